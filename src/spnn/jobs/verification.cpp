#include <spnn/core/errors.h>
#include <spnn/jobs/loaded_models.h>
#include <spnn/jobs/network_input.h>
#include <spnn/jobs/session.h>
#include <spnn/operators/cellwise_operator.h>
#include <spnn/projection/verify.h>

namespace spnn::engine {
namespace {

Tensor inputs(const VerifyRequest& wish, const Spnn& net) {
  require(wish.count >= 1, "count", "one input or more", std::to_string(wish.count));
  if (wish.photos.empty()) return Rng(wish.seed).uniform(net.in_shape().batched(wish.count), net.options()) * 2 - 1;
  std::vector<Tensor> images;
  for (const auto& photo : wish.photos) {
    if (std::ssize(images) < wish.count) images.push_back(open_input(photo, net));
  }
  return torch::cat(images);
}

// Other inputs' outputs, shaken by their own spread: targets that the network could meet, and a little beyond.
Tensor targets(const Tensor& g_x, std::uint64_t seed) {
  const auto spread = g_x.numel() > 1 ? g_x.std().item<double>() : 1.0;
  return g_x.roll(1, 0) + spread * Rng(seed).fork(1).randn(g_x.sizes(), g_x.options());
}

VerifyReport as_report(const Verification& verification, const std::string& network) {
  VerifyReport report;
  report.network = network;
  report.passed = verification.passed();
  report.plain_drift_of_learned_r = verification.plain_drift_of_learned_r;
  for (const auto& r : verification.residuals) {
    report.residuals.push_back({r.name, r.absolute, r.relative, r.tolerance, r.passed()});
  }
  return report;
}

// g behind the average pooling from images of `size` pixels.
VerifyReport verify_large(const std::shared_ptr<const Spnn>& net, std::int64_t size, const VerifyRequest& wish) {
  const auto own = net->in_shape();
  const Shape large{own.channels, size, size};
  if (size % own.height != 0) throw UsageError(fmt::format("--size: expected a multiple of {}, got {}", own.height, size));
  if (!wish.photos.empty()) throw UsageError("verify --size: expected random inputs, got photos");
  const auto x = Rng(wish.seed).uniform(large.batched(wish.count), net->options()) * 2 - 1;
  const auto A = std::make_shared<AveragePooling>(large, size / own.height);
  const auto y = targets(net->forward(A->forward(x)), wish.seed);
  return as_report(verify_composed(net, A, x, y, {.tolerance = wish.tolerance}),
                   fmt::format("{} behind {}×{} average pooling", describe_network(*net), size / own.height, size / own.height));
}

}  // namespace

VerifyReport TorchSession::verify(const VerifyRequest& wish, Observer& observer) const {
  const torch::NoGradGuard no_grad;
  const auto& net = loaded_.classifier().net;
  observer.message("verifying " + describe_network(*net));
  if (const auto size = loaded_.config().models.size; size > 0 && size != net->in_shape().height) return verify_large(net, size, wish);
  const auto x = inputs(wish, *net);
  const auto y = targets(net->forward(x), wish.seed);
  const auto verification = verify_network(net, x, y, {.tolerance = wish.tolerance});
  return as_report(verification, describe_network(*net));
}

}  // namespace spnn::engine
