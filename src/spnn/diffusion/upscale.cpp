#include <spnn/core/errors.h>
#include <spnn/diffusion/upscale.h>
#include <spnn/image/resize.h>

#include <cmath>

namespace spnn {
Tensor detail_at(const Upscaler& net, const Tensor& z_t, const Tensor& guide, std::int64_t t, const Schedule& schedule) {
  const auto number = [&](double value) { return torch::full({1}, value, z_t.options()); };
  return net.z0_hat(z_t, guide, number(static_cast<double>(t)), number(schedule.alpha_bar(t)));
}

namespace {

constexpr std::uint64_t kGuideNoise = 1, kDetail = 2;   // streams of the second stage, apart from the first one's

}  // namespace

UpscalerDenoiser::UpscalerDenoiser(std::shared_ptr<const Upscaler> net, const Tensor& low, double level, const Tensor& noise)
    : net_(std::move(net)), schedule_(Schedule::linear()) {
  require_shape(low, {3, net_->low_size(), net_->low_size()}, "upscaler");
  guide_ = net_->guide(noise.defined() ? low + level * noise : low, torch::full({1}, level, low.options()));
}

Tensor UpscalerDenoiser::eps(const Tensor& z_t, std::int64_t t) const {
  return eps_from_x0(schedule_, z_t, detail_at(*net_, z_t, guide_, t, schedule_), t);
}

Shape UpscalerDenoiser::shape() const { return {net_->detail_channels(), net_->low_size(), net_->low_size()}; }

namespace {

// E[z | low], by one look at the noisiest time; the noise is the same for all images and always.
Tensor expected_detail(const Upscaler& net, const Tensor& low, bool learned) {
  const auto size = net.config().image_size;
  if (!learned) return net.detail(resize(low, size, size));
  const auto schedule = Schedule::linear();
  const auto t = schedule.steps() - 1;
  const auto z_T = Rng(0).randn({1, net.detail_channels(), low.size(2), low.size(3)}).to(low.options()).expand({low.size(0), -1, -1, -1});
  return detail_at(net, z_T, net.guide(low, torch::zeros({1}, low.options())), t, schedule);
}

}  // namespace

Tensor transport(const Upscaler& net, const Tensor& x, const Tensor& low, bool learned) {
  const auto step = expected_detail(net, low, learned) - expected_detail(net, net.low(x), learned);
  return net.image(low, net.detail(x) + step);
}

Tensor upscale(const std::shared_ptr<const Upscaler>& net, const Tensor& low, const UpscaleConfig& config, const ImageSeeds& seeds,
               Observer& observer, const ImageCorrection& correction) {
  const torch::NoGradGuard no_grad;
  require(low.size(0) == seeds.size(), "upscale", fmt::format("{} seeds, one per image", low.size(0)), std::to_string(seeds.size()));
  const Shape small{low.size(1), low.size(2), low.size(3)};
  const auto noise = config.level > 0 ? seeds.forked(kGuideNoise).noise(small, 0, low.options()) : Tensor();
  const UpscalerDenoiser prior(net, low, config.level, noise);
  auto sampler = config.sampler;
  sampler.clamp = false;   // z is no picture
  sampler.device = low.device();
  const auto z = sample(prior, sampler, seeds.forked(kDetail), observer, [&](const SamplerStep& step) {
    auto x0 = net->image(low, step.x0_hat).clamp(-1, 1);
    if (correction) x0 = correction(x0, step.t);
    return net->detail(x0);
  });
  return net->image(low, z);
}

}  // namespace spnn
