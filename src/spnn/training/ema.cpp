#include <spnn/training/ema.h>

#include <algorithm>

namespace spnn {

Ema::Ema(std::vector<Tensor> parameters, double decay) : parameters_(std::move(parameters)), decay_(decay) {
  for (const auto& value : parameters_) averages_.push_back(value.detach().clone());
}

void Ema::update(std::int64_t step) {
  torch::NoGradGuard no_grad;
  const double k = static_cast<double>(step);
  const double follow = 1 - std::min(decay_, (1 + k) / (10 + k));
  for (std::size_t i = 0; i < averages_.size(); ++i) averages_[i].lerp_(parameters_[i].detach(), follow);
}

ScopedWeights::ScopedWeights(std::vector<Tensor> parameters, const std::vector<Tensor>& values)
    : parameters_(std::move(parameters)) {
  torch::NoGradGuard no_grad;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    saved_.push_back(parameters_[i].detach().clone());
    parameters_[i].copy_(values[i]);
  }
}

ScopedWeights::~ScopedWeights() {
  torch::NoGradGuard no_grad;
  for (std::size_t i = 0; i < parameters_.size(); ++i) parameters_[i].copy_(saved_[i]);
}

}  // namespace spnn
