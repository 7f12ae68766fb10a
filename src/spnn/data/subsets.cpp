#include <spnn/core/errors.h>
#include <spnn/core/rng.h>
#include <spnn/data/subsets.h>

#include <set>

namespace spnn {

Dataset rows_of(const Dataset& set, const Tensor& indices) {
  Dataset out{.name = set.name, .attributes = set.attributes, .split_rule = set.split_rule, .skipped = set.skipped, .multi_label = set.multi_label};
  out.images = set.images.index_select(0, indices);
  if (set.labels.defined()) out.labels = set.labels.index_select(0, indices);
  const auto order = indices.contiguous();
  for (std::int64_t i = 0; i < order.size(0); ++i) {
    const auto at = static_cast<std::size_t>(order.data_ptr<std::int64_t>()[i]);
    if (!set.files.empty()) out.files.push_back(set.files[at]);
    if (!set.splits.empty()) out.splits.push_back(set.splits[at]);
  }
  return out;
}

Dataset shuffled(const Dataset& set, std::uint64_t seed) { return rows_of(set, Rng(seed).permutation(set.size())); }

Dataset everybody_first(const Dataset& set, const Identities& identities) {
  const auto people = people_of(set, identities).contiguous();
  std::set<std::int64_t> seen;
  std::vector<std::int64_t> order, again;
  for (std::int64_t i = 0; i < people.size(0); ++i) (seen.insert(people.data_ptr<std::int64_t>()[i]).second ? order : again).push_back(i);
  order.insert(order.end(), again.begin(), again.end());
  return rows_of(set, torch::tensor(order, torch::kInt64));
}

Dataset half_by_person(const Dataset& set, const Identities& identities, char half) {
  require(half == 'a' || half == 'b', "half_by_person", "a or b", fmt::format("'{}'", half));
  const auto people = people_of(set, identities);
  std::vector<std::int64_t> kept;
  for (std::int64_t i = 0; i < people.size(0); ++i) {
    const auto person = static_cast<std::uint64_t>(people.data_ptr<std::int64_t>()[i]);
    if ((Rng(person).fork(0).seed() & 1) == static_cast<std::uint64_t>(half - 'a')) kept.push_back(i);
  }
  return rows_of(set, torch::tensor(kept, torch::kInt64));
}

}  // namespace spnn
