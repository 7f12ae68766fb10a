#include <spnn/core/rng.h>
#include <spnn/data/one_image_a_person.h>

#include <set>

namespace spnn {

Tensor one_image_a_person(const Dataset& set, const Identities& people, std::int64_t count, std::uint64_t seed) {
  const auto who = (people.empty() ? torch::arange(set.size(), torch::kInt64) : people_of(set, people)).contiguous();
  const auto order = Rng(seed).permutation(set.size()).contiguous();
  std::set<std::int64_t> seen;
  std::vector<std::int64_t> chosen;
  for (std::int64_t i = 0; i < order.size(0) && std::ssize(chosen) < count; ++i) {
    const auto row = order.data_ptr<std::int64_t>()[i];
    if (seen.insert(who.data_ptr<std::int64_t>()[row]).second) chosen.push_back(row);
  }
  return torch::tensor(chosen, torch::kInt64);
}

}  // namespace spnn
