#include <spnn/core/errors.h>
#include <spnn/diffusion/cascade_denoiser.h>
#include <spnn/image/resize.h>

#include <cmath>

namespace spnn {
namespace {

double noise_over_signal(const Schedule& schedule, std::int64_t t) { return std::sqrt(1 / schedule.snr(t)); }

}  // namespace

std::int64_t time_of_noise(const Schedule& schedule, double sigma) {
  if (sigma < 0.5 * noise_over_signal(schedule, 0)) return -1;
  std::int64_t t = 0;
  while (t + 1 < schedule.steps() && noise_over_signal(schedule, t + 1) <= sigma) ++t;
  const bool above = t + 1 < schedule.steps() && noise_over_signal(schedule, t + 1) - sigma < sigma - noise_over_signal(schedule, t);
  return above ? t + 1 : t;
}

CascadeDenoiser::CascadeDenoiser(std::shared_ptr<const Denoiser> small, std::shared_ptr<const Upscaler> detail)
    : small_(std::move(small)), detail_(std::move(detail)), schedule_(Schedule::linear()) {
  const Shape wanted{3, detail_->low_size(), detail_->low_size()};
  require(small_->shape() == wanted, "cascade", fmt::format("a first stage of {} images", to_string(wanted)), to_string(small_->shape()));
}

Shape CascadeDenoiser::shape() const { return {3, detail_->config().image_size, detail_->config().image_size}; }

Tensor CascadeDenoiser::small_x0(const Tensor& low, double sigma) const {
  const auto t = time_of_noise(small_->schedule(), sigma);
  return t < 0 ? low : predict_x0(*small_, low * std::sqrt(small_->schedule().alpha_bar(t)), t);
}

Tensor CascadeDenoiser::detail_z0(const Tensor& z, double sigma, const Tensor& low, double level) const {
  const auto t = time_of_noise(schedule_, sigma);
  if (t < 0) return z;
  return detail_at(*detail_, z * std::sqrt(schedule_.alpha_bar(t)), detail_->guide(low, torch::full({1}, level, low.options())), t, schedule_);
}

Tensor CascadeDenoiser::eps(const Tensor& x_t, std::int64_t t) const {
  require_shape(x_t, shape(), "cascade");
  const double a = schedule_.alpha_bar(t), sigma = noise_over_signal(schedule_, t);
  const double level = sigma / static_cast<double>(detail_->config().factor);   // of the small image: a mean over f² pixels
  const auto u = x_t / std::sqrt(a);
  const auto low = detail_->low(u), low0 = small_x0(low, level).clamp(-1, 1);
  const auto z0 = level <= detail_->config().noise_level ? detail_z0(detail_->detail(u), sigma / detail_->scale(), low, level)
                                                         : detail_->detail(resize(low0, x_t.size(2), x_t.size(3)));
  return eps_from_x0(schedule_, x_t, detail_->image(low0, z0), t);
}

}  // namespace spnn
