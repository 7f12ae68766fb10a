#include <spnn/core/names.h>
#include <spnn/diffusion/cell_patterns.h>
#include <spnn/diffusion/unet_denoiser.h>

#include <array>
#include <cmath>

namespace spnn {

namespace {

constexpr std::array kParameterizations = {Named{Parameterization::eps, "eps"}, Named{Parameterization::v, "v"}};

}  // namespace

Parameterization parameterization_from(const std::string& name) { return value_named(kParameterizations, name, "parameterization"); }

std::string to_string(Parameterization p) { return std::string(name_of(kParameterizations, p)); }

UNetDenoiser::UNetDenoiser(std::shared_ptr<const UNet> net, Schedule schedule, Parameterization parameterization)
    : net_(std::move(net)), schedule_(std::move(schedule)), parameterization_(parameterization) {}

Tensor UNetDenoiser::eps(const Tensor& x_t, std::int64_t t) const {
  require_shape(x_t, shape(), "prior");
  // One time for the whole batch: its embedding is computed once, and an image never depends on the size of its batch.
  const auto times = torch::full({1}, static_cast<double>(t), x_t.options());
  const auto out = net_->forward(x_t, times);
  const double a = schedule_.alpha_bar(t);
  const auto eps = parameterization_ == Parameterization::eps ? out : out * std::sqrt(a) + x_t * std::sqrt(1 - a);
  const auto side = net_->config().stem;
  return side > 1 ? with_pattern_known(eps, x_t, a, side) : eps;
}

Shape UNetDenoiser::shape() const {
  const auto& c = net_->config();
  return {c.in_channels, c.image_size, c.image_size};
}

}  // namespace spnn
