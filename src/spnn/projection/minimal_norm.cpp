#include <spnn/core/errors.h>
#include <spnn/core/rng.h>
#include <spnn/projection/minimal_norm.h>

#include <torch/optim/lbfgs.h>

#include <limits>

namespace spnn {
namespace {

using Map = std::function<Tensor(const Tensor&)>;

double largest(const Tensor& v) { return v.abs().max().item<double>(); }

class AugmentedLagrangian {
 public:
  AugmentedLagrangian(const Map& g, const Tensor& y, const MinimalNormConfig& config)
      : g_(g), y_(y), config_(config), multipliers_(torch::zeros_like(y)), mu_(config.penalty) {}

  MinimalNorm from(const Tensor& start) {
    x_ = start.detach().clone().requires_grad_(true);
    double before = std::numeric_limits<double>::infinity(), residual = before;
    for (int k = 0; k < config_.outer; ++k) {
      minimise();
      const torch::NoGradGuard no_grad;
      const Tensor gap = g_(x_) - y_;
      residual = largest(gap);
      if (residual <= config_.tolerance) break;
      multipliers_ = multipliers_ + mu_ * gap;
      if (residual > 0.25 * before && mu_ < 1e6) mu_ *= 4;
      before = residual;
    }
    const auto x = x_.detach();
    return {.x = x, .norm = x.norm().item<double>(), .residual = residual, .converged = residual <= config_.tolerance};
  }

 private:
  void minimise() {
    torch::optim::LBFGS lbfgs({x_}, torch::optim::LBFGSOptions(1.0).max_iter(config_.inner).history_size(20)
                                        .tolerance_grad(1e-13).tolerance_change(1e-16).line_search_fn("strong_wolfe"));
    lbfgs.step([&] {
      const torch::AutoGradMode with_gradient(true);
      lbfgs.zero_grad();
      const Tensor gap = g_(x_) - y_;
      const auto value = 0.5 * x_.square().sum() + (multipliers_ * gap).sum() + 0.5 * mu_ * gap.square().sum();
      value.backward();
      return value;
    });
  }

  const Map& g_;
  const Tensor& y_;
  const MinimalNormConfig& config_;
  Tensor multipliers_, x_;
  double mu_;
};

}  // namespace

MinimalNorm minimal_norm_inverse(const Map& g, const Tensor& y, torch::IntArrayRef sizes, const MinimalNormConfig& config,
                                 const std::vector<Tensor>& further_starts) {
  require(config.starts + std::ssize(further_starts) > 0, "minimal_norm_inverse", "a start or more", "none");
  auto starts = further_starts;
  for (int k = 0; k < config.starts; ++k) {
    starts.push_back(config.start_scale * Rng(config.seed).fork(static_cast<std::uint64_t>(k)).randn(sizes, torch::kFloat64));
  }
  const auto target = y.to(torch::kFloat64);
  MinimalNorm best;
  bool first = true;
  for (const auto& start : starts) {
    const auto found = AugmentedLagrangian(g, target, config).from(start.to(torch::kFloat64));
    const bool feasible_first = found.converged && !best.converged;
    const bool better = found.converged == best.converged &&
                        (found.converged ? found.norm < best.norm : found.residual < best.residual);
    if (first || feasible_first || better) best = found;
    first = false;
  }
  return best;
}

Tensor relu_minimal_norm(const Tensor& y) { return torch::relu(y); }

Tensor soft_threshold(const Tensor& x, double lambda) { return torch::sign(x) * torch::relu(x.abs() - lambda); }

Tensor soft_threshold_minimal_norm(const Tensor& y, double lambda) { return y + lambda * torch::sign(y); }

Tensor hard_threshold(const Tensor& x, double lambda) { return x * x.abs().ge(lambda).to(x.dtype()); }

// Between 0 and λ nothing is reached: below λ/2 zero is nearer, above it λ; halfway both are, and zero is shorter.
Tensor hard_threshold_minimal_norm(const Tensor& y, double lambda) {
  const auto size = y.abs();
  return torch::sign(y) * torch::where(size.gt(lambda / 2), size.clamp_min(lambda), torch::zeros_like(size));
}

}  // namespace spnn
