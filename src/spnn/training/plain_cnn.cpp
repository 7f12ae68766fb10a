#include <spnn/networks/subnets.h>
#include <spnn/training/plain_cnn.h>
#include <spnn/data/task.h>

#include <cstdlib>

namespace spnn {
namespace {

constexpr std::uint64_t kCnnInit = 2;

std::shared_ptr<Subnet> residual_net(const DegradationNetworkConfig& c, const Reduction& T, std::int64_t hidden) {
  const auto out = T.out_shape();
  return make_subnet({.kind = SubnetConfig::Kind::residual, .hidden = hidden, .depth = 3 * c.depth, .kernel = c.kernel,
                      .activation = SubnetConfig::Activation::silu, .layers = {}},
                     {T.basis().size(0), out.height, out.width}, out.channels, "plain CNN");
}

}  // namespace

std::int64_t parameter_count(const std::vector<Tensor>& parameters) {
  std::int64_t count = 0;
  for (const auto& value : parameters) count += value.numel();
  return count;
}

PlainCnnObjective::PlainCnnObjective(DegradationRecipe recipe, const Reduction& T, DegradedImages train, DegradedImages val, std::int64_t parameters)
    : recipe_(std::move(recipe)),
      T_(T),
      train_(std::move(train)),
      val_(std::move(val)),
      batches_(train_.clean, {.augment = recipe_.augment, .batch = recipe_.train.batch, .seed = recipe_.train.seed}) {
  std::int64_t nearest = parameters;
  for (std::int64_t hidden = 4;; hidden += 4) {
    const auto net = residual_net(recipe_.network, T, hidden);
    const auto off = parameters - spnn::parameter_count(net->parameters());
    if (!net_ || std::abs(off) < nearest) net_ = net, hidden_ = hidden, nearest = std::abs(off);
    if (off <= 0) break;
  }
  initialise_subnet(*net_, Rng(recipe_.train.seed).fork(kCnnInit));
}

Tensor PlainCnnObjective::forward(const Tensor& x) const { return T_.forward(x) + net_->forward(torch::pixel_unshuffle(x, T_.cell())); }

std::int64_t PlainCnnObjective::parameter_count() const { return spnn::parameter_count(net_->parameters()); }

Losses PlainCnnObjective::losses(std::int64_t step, Share share) {
  const auto batch = batches_.get(step, share);
  return {{"task", task_loss(Task::black_box, forward(batch.images), T_.forward(train_.D(batch)))}};
}

Validation PlainCnnObjective::validate() {
  const auto error = fit_error([&](const Tensor& x) { return forward(x); }, T_, val_, fit_images);
  return {.score = error.rms, .figures = {{"rms", error.rms}, {"psnr", error.psnr}}};
}

std::map<std::string, std::string> PlainCnnObjective::metadata() const {
  return {{"kind", "plain-cnn"}, {"architecture", Json{{"hidden", hidden_}, {"keep", T_.spec()}}.dump()}, {"recipe", Json(recipe_).dump()}};
}

}  // namespace spnn
