#include <spnn/checkpoint/safetensors.h>
#include <spnn/core/errors.h>
#include <spnn/restoration/degradation.h>
#include <spnn/operators/stage.h>
#include <spnn/projection/operator_projector.h>
#include <spnn/projection/spnn_projector.h>

namespace spnn {
namespace {

Tensor rms_of_pixels(const Tensor& difference) { return difference.flatten(1).square().mean(1).sqrt() / 2; }

// What `train degradation` wrote beside the network; nothing for others.
std::shared_ptr<const FittedTo> fitted_to(const std::string& file, const Shape& in) {
  const auto about = read_safetensors(file).metadata;
  if (!about.contains("keep")) return {};
  const auto box = about.contains("black_box") ? about.at("black_box") : std::string();
  FittedTo fitted{Reduction(about.at("keep"), in), box.empty() ? BlackBox() : make_black_box(box, in)};
  if (about.contains("fit")) Json::parse(about.at("fit")).get_to(fitted.fit);
  return std::make_shared<FittedTo>(std::move(fitted));
}

}  // namespace

Tensor Degradation::in_range(const Tensor& y) const {
  return !A || A->onto() ? y : A->forward(A->pinv(y));
}

Tensor Degradation::measure(const Tensor& x, const MeasurementNoise& noise, const std::vector<std::uint64_t>& seeds) const {
  if (noise.kind == MeasurementNoise::Kind::poisson && (network() || !intensities)) {
    throw UsageError(fmt::format("noise: expected Gaussian noise for '{}', whose measurements are not intensities, got {}", name,
                                 to_string(noise)));
  }
  if (has_truth()) return with_noise(fitted->T.forward(fitted->D(x)), noise, seeds);
  return in_range(with_noise(g->forward(x), noise, seeds));
}

Tensor Degradation::picture(const Tensor& y) const {
  const auto shape = g->out_shape();
  const bool shown = intensities && !network() && (shape.channels == 1 || shape.channels == 3) && shape.height * shape.width > 1;
  return (shown ? y : g->pinv(y)).clamp(-1, 1);
}

Tensor Degradation::inconsistency(const Tensor& x, const Tensor& y) const {
  return rms_of_pixels(g->forward(x) - y);
}

Tensor Degradation::true_inconsistency(const Tensor& x_hat, const Tensor& v) const {
  require(has_truth(), name, "a network fitted to a known black box", "another operator");
  return rms_of_pixels(fitted->D(x_hat) - v);
}

Degradation degradation_of(const NamedOperator& made, Metric metric) {
  return {.name = made.spec, .g = std::make_shared<OperatorProjector>(made.g, metric), .linear = made.linear, .A = made.A,
          .intensities = made.intensities, .rounding = made.rounding};
}

std::optional<std::string> network_file(const std::string& spec) {
  for (const std::string prefix : {"model:", "network:"}) {
    if (spec.starts_with(prefix)) return spec.substr(prefix.size());
  }
  return {};
}

Degradation make_degradation(const DegradationChoice& choice, const Shape& in) {
  const auto file = network_file(choice.spec);
  if (!file) return degradation_of(make_operator(choice.spec, in, choice.masks), choice.metric);
  const auto model = choice.network ? *choice.network : load_spnn(*file);
  if (model.net->in_shape() != in) {
    throw UsageError(fmt::format("operator {}: expected a network of {} images, as the prior has, got {}", choice.spec, to_string(in),
                                 to_string(model.net->in_shape())));
  }
  return {.name = choice.spec,
          .g = std::make_shared<SpnnProjector>(
              model.net, SpnnProjectorConfig{.pseudo_inverse = choice.pseudo_inverse, .metric = choice.metric}),
          .intensities = false,
          .fitted = choice.spec.starts_with("model:") ? fitted_to(*file, in) : nullptr};
}

}  // namespace spnn
