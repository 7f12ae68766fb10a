#include <spnn/core/errors.h>
#include <spnn/evaluation/edit_measures.h>

namespace spnn {
namespace {

// Columns that were not asked for.
Tensor others(const EditedSet& set) {
  auto keep = torch::ones({set.logits.size(1)}, torch::kBool);
  for (const auto a : set.attributes) keep[a] = false;
  return keep.nonzero().flatten();
}

}  // namespace

EditMeasures measure_edit(const EditedSet& set) {
  const auto n = set.logits.size(0);
  require(set.unguided.size(0) >= std::max<std::int64_t>(n, 2), "edit measures", fmt::format("{} unguided images or more", n),
          std::to_string(set.unguided.size(0)));
  EditMeasures m;
  auto all = torch::ones({n}, torch::kBool);
  for (std::size_t s = 0; s < set.attributes.size(); ++s) {
    const auto right = (set.logits.select(1, set.attributes[s]) > 0) == static_cast<bool>(set.present[s]);
    m.right.push_back(right.to(torch::kFloat64).mean().item<double>());
    all = all & right;
  }
  m.all_right = all.to(torch::kFloat64).mean().item<double>();
  const auto columns = others(set);
  if (columns.numel() == 0) return m;
  const auto edited = set.logits.index_select(1, columns) > 0, free = set.unguided.index_select(1, columns) > 0;
  m.drift = (edited != free.slice(0, 0, n)).to(torch::kFloat64).mean().item<double>();
  // Two different images drawn from M disagree on an attribute that k of them have in 2k(M−k) of M(M−1) ordered pairs.
  const auto share = free.to(torch::kFloat64).mean(0);
  const auto images = static_cast<double>(free.size(0));
  m.drift_unguided = (2 * share * (1 - share) * images / (images - 1)).mean().item<double>();
  return m;
}

double recall_on(const Tensor& logits, const Tensor& reference, std::int64_t attribute, bool present) {
  const auto wanted = (reference.select(1, attribute) > 0) == present;
  const auto right = (logits.select(1, attribute) > 0) == present;
  return right.masked_select(wanted).to(torch::kFloat64).mean().item<double>();
}

}  // namespace spnn
