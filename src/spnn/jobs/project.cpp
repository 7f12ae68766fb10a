#include <spnn/core/errors.h>
#include <spnn/core/stopwatch.h>
#include <spnn/image/image.h>
#include <spnn/jobs/make_images.h>
#include <spnn/jobs/network_input.h>
#include <spnn/jobs/pictures.h>
#include <spnn/jobs/session.h>

namespace spnn::engine {
namespace {

double largest_of(const Tensor& difference) { return difference.abs().max().item<double>(); }

// x as 8-bit picture. requires: a batch of one, 1 or 3 channels.
Tensor bytes_of(const Tensor& x) {
  require(x.dim() == 4 && (x.size(1) == 1 || x.size(1) == 3), "result", "an input of 1 or 3 channels to show as an image", to_string(x.sizes()));
  return to_bytes(x[0].to(torch::kCPU, torch::kFloat32));
}

SpnnProjector projector_of(const LoadedModels& loaded, const std::string& pseudo_inverse, const std::string& metric, std::uint64_t seed) {
  return SpnnProjector(loaded.classifier().net, {.pseudo_inverse = pseudo_inverse_from(pseudo_inverse), .metric = metric_from(metric),
                                                 .random_seed = seed});
}

ProjectResult result_of(const SpnnProjector& g, const Tensor& x, const Tensor& before, const Tensor& wanted) {
  const auto bytes = bytes_of(x);
  const auto after = g.forward(x), saved = g.forward(to_unit(bytes).unsqueeze(0).to(x.options()));
  return {.image = to_image(bytes), .before = numbers_in(before), .target = numbers_in(wanted), .after = numbers_in(after),
          .saved = numbers_in(saved), .consistency = largest_of(after - wanted), .consistency_saved = largest_of(saved - wanted)};
}

}  // namespace

ProjectResult TorchSession::pinv(const PinvRequest& wish) const {
  const torch::NoGradGuard no_grad;
  const Stopwatch watch;
  const auto g = projector_of(loaded_, wish.pseudo_inverse, "residual", wish.seed);
  const auto y = open_target(wish.target, loaded_.classifier(), {});
  const auto x = g.pinv(y);
  auto result = result_of(g, x, torch::zeros_like(y), y);
  result.moved = x.square().mean().sqrt().item<double>();
  result.seconds = watch.seconds();
  return result;
}

ProjectResult TorchSession::project(const ProjectRequest& wish) const {
  const torch::NoGradGuard no_grad;
  if (!(wish.lambda >= 0 && wish.lambda <= 1)) throw UsageError(fmt::format("lambda: expected a number in [0, 1], got {}", wish.lambda));
  const Stopwatch watch;
  const auto g = projector_of(loaded_, wish.pseudo_inverse, wish.metric, wish.seed);
  const auto x = open_input(wish.photo, g.net());
  const auto probe = g.probe(x);
  const auto y = open_target(wish.target, loaded_.classifier(), probe.y);
  const auto x_new = g.nlbp(probe, y, torch::scalar_tensor(wish.lambda, x.options()));
  const Tensor wanted = (1 - wish.lambda) * probe.y + wish.lambda * y;
  auto result = result_of(g, x_new, probe.y, wanted);
  result.moved = (x_new - x).square().mean().sqrt().item<double>();
  result.seconds = watch.seconds();
  return result;
}

PartsResult TorchSession::parts(const PartsRequest& wish) const {
  const torch::NoGradGuard no_grad;
  const auto g = projector_of(loaded_, wish.pseudo_inverse, "residual", 0);
  const auto x = open_input(wish.photo, g.net());
  auto at = g.complete(x);
  const auto range = g.pinv(at.y);
  at.y = g.forward(torch::zeros_like(x));
  return {.photo = to_image(bytes_of(x)), .range = to_image(bytes_of(range)), .null = to_image(bytes_of((x - range) / 2)),
          .without = to_image(bytes_of(g.invert(at)))};
}

}  // namespace spnn::engine
