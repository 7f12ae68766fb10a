#pragma once

#include <spnn/diffusion/sampler.h>
#include <spnn/restoration/degradation.h>
#include <spnn/restoration/method_table.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace spnn {

// y = g(x) + noise, and what may be assumed of x.
struct Problem {
  const Denoiser& prior;
  const Degradation& g;
  Tensor y;
  NoiseLevels sigma_y = 0;   // standard deviation of the noise, in units of pixels in [−1, 1]
  ImageSeeds seeds;
};

// What the methods can be told. Defaults are the papers', unless said.
struct MethodConfig {
  SamplerConfig sampler = {};
  double lambda = 1;              // nlbp
  bool exact = false;             // nlbp: y is taken as exact, whatever noise and error of the fit are known
  // dps, mcg: the step along −∇‖y − g(x̂0)‖ for 3×256×256 and 1000 steps, where the papers' 0.3 … 1 belong. A gradient of a norm is
  // about as long whatever the size of the image, the way to go is not: √(pixels) and 1000/steps scale it.
  double gradient = 1;
  double eta = 0.85, eta_b = 1;   // ddrm
  std::int64_t langevin = 4;      // snips: Langevin steps per level; levels for sampler.steps, or what annealing needs at least
  double langevin_step = 0.2;     // snips: in units of the level's variance. The paper's 0.033 is for thousands of steps
  TimeTravel repaint = {.length = 10, .repeat = 3};   // the paper resamples 10 times
  std::int64_t iterations = 100;  // ibp
  std::map<std::string, double> more = {};   // of method_settings(), those that are not to have their default

  double setting(std::string_view name) const;   // as told, or its default
};

const MethodInfo& method_info(const std::string& name);   // UsageError with the nearest names
std::vector<std::string> method_names(const std::function<bool(const MethodInfo&)>& which);   // in the table's order

// UsageError naming the methods that would do, where this one cannot take the operator.
void require_applies(const MethodInfo& method, const Degradation& g);

// requires: prior and g of one shape, y a measurement of g. ensures: image i depends on its own seed, y and mask only. With restarts
// every image is the best of so many runs by ‖g(x) − y‖, which asks for no clean image.
Tensor restore_by(const std::string& method, const Problem& problem, const MethodConfig& config, Observer& observer);

// Counts what a method asks of the prior, and shows the x̂0 of every answer to whoever wants to see.
class WatchedDenoiser final : public Denoiser {
 public:
  using Show = std::function<void(const Tensor& x0_hat, std::int64_t t, std::int64_t call)>;
  explicit WatchedDenoiser(const Denoiser& prior, Show show = {}) : prior_(prior), show_(std::move(show)) {}
  Tensor eps(const Tensor& x_t, std::int64_t t) const override {
    auto eps = prior_.eps(x_t, t);
    ++calls_;
    if (show_) show_(x0_from_eps(schedule(), x_t.detach(), eps.detach(), t).clamp(-1, 1), t, calls_);
    return eps;
  }
  Shape shape() const override { return prior_.shape(); }
  const Schedule& schedule() const override { return prior_.schedule(); }
  std::int64_t calls() const { return calls_; }

 private:
  const Denoiser& prior_;
  Show show_;
  mutable std::int64_t calls_ = 0;
};

}  // namespace spnn
