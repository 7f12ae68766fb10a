#include <spnn/core/errors.h>
#include <spnn/core/shape.h>
#include <spnn/layers/new_weights.h>

namespace spnn {
namespace {

constexpr std::uint64_t kPerTensor = 1024;              // what a tensor and its module cost beside its numbers
constexpr std::uint64_t kRoom = std::uint64_t{1} << 24;
thread_local WeightBudget* current_budget = nullptr;

}  // namespace

WeightBudget::WeightBudget(std::uint64_t numbers, std::uint64_t tensors, std::string where)
    : outer_(current_budget), left_(2 * (numbers + kPerTensor * tensors) + kRoom), most_(left_), where_(std::move(where)) {
  current_budget = this;
}

WeightBudget::~WeightBudget() { current_budget = outer_; }

void count_weights(torch::IntArrayRef sizes) {
  std::uint64_t cost = 1;
  bool fits = true;
  for (const auto size : sizes) fits = fits && size >= 0 && !__builtin_mul_overflow(cost, static_cast<std::uint64_t>(size), &cost);
  constexpr std::uint64_t most = std::uint64_t{1} << 40;
  require(fits && cost <= most, "weights", fmt::format("a tensor of at most {} numbers", most), to_string(sizes));
  auto* budget = current_budget;
  if (!budget) return;
  cost += kPerTensor;
  require(cost <= budget->left_, budget->where_, "an architecture that the tensors of the file fill",
          fmt::format("one of more than {} numbers", budget->most_));
  budget->left_ -= cost;
}

Tensor new_weights(torch::IntArrayRef sizes, double value) {
  count_weights(sizes);
  return torch::full(sizes, value, torch::kFloat32);
}

}  // namespace spnn
