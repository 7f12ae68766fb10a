#include <spnn/blocks/cayley_mix.h>
#include <spnn/blocks/householder_mix.h>
#include <spnn/core/errors.h>
#include <spnn/flows/act_norm.h>
#include <spnn/flows/affine_coupling_layer.h>
#include <spnn/flows/channel_mix.h>
#include <spnn/flows/flow.h>
#include <spnn/flows/max_pool.h>
#include <spnn/flows/slice.h>
#include <spnn/flows/spline_coupling_layer.h>
#include <spnn/flows/squeeze.h>
#include <spnn/networks/subnets.h>

#include <algorithm>

namespace spnn {
namespace {

// Glow's net: 3×3, 1×1, 3×3.
std::shared_ptr<Subnet> coupling_net(const Shape& in, std::int64_t hidden, std::int64_t out) {
  const SubnetConfig config{.kind = SubnetConfig::Kind::sequential,
                            .layers = {{.out = hidden}, {.out = hidden, .kernel = 1}, {.out = 0}}};
  return make_subnet(config, in, out, "flow coupling");
}

std::shared_ptr<Subnet> small_net(const Shape& in, std::int64_t hidden, std::int64_t out) {
  return make_subnet({.hidden = hidden, .depth = 2, .layers = {}}, in, out, "flow conditional");
}

}  // namespace

Flow::Flow(const FlowConfig& config) : config_(config) {
  const auto& in = config.input;
  require(in.channels > 0 && in.height > 0 && in.width > 0, "Flow", "a positive input shape", to_string(in));
  if (config.augment > 0) {
    augmentation_ = register_module("augmentation", std::make_shared<Augmentation>(
        in, config.augment, small_net(in, config.hidden.front(), 2 * config.augment)));
  }
  tree_ = register_module("layers", std::make_shared<torch::nn::Module>());
  if (config.squeeze > 1) add(std::make_shared<Squeeze>(PixelUnshuffleConfig{shape(), config.squeeze, config.squeeze}));
  for (std::size_t scale = 0; scale < config.steps.size(); ++scale) add_scale(scale);
  if (config.diagonal) add(std::make_shared<ActNorm>(ActNormConfig{.in = shape(), .per_position = true}));
}

Shape Flow::shape() const {
  if (!layers_.empty()) return layers_.back()->out_shape();
  return augmentation_ ? augmentation_->out_shape() : config_.input;
}

template <class Layer>
void Flow::add(std::shared_ptr<Layer> layer) {
  tree_->register_module(std::to_string(layers_.size()), layer);
  layers_.push_back(std::move(layer));
}

void Flow::add_scale(std::size_t scale) {
  const auto hidden = config_.hidden[scale];
  for (std::int64_t k = 0; k < config_.steps[scale]; ++k) add_step(hidden, k % 2 == 0);
  if (scale + 1 < config_.steps.size()) add_passage(hidden);
}

void Flow::add_step(std::int64_t hidden, bool moves_first) {
  const auto in = shape();
  if (config_.act_norm) add(std::make_shared<ActNorm>(ActNormConfig{.in = in}));
  switch (config_.mix) {
    case FlowConfig::Mix::none: break;
    case FlowConfig::Mix::lu: add(std::make_shared<LuMixLayer>(in, Rng(layers_.size()))); break;
    case FlowConfig::Mix::cayley:
      add(std::make_shared<OrthogonalMixLayer>(in, std::make_shared<CayleyMix>(CayleyMixConfig{.channels = in.channels})));
      break;
    case FlowConfig::Mix::householder:
      add(std::make_shared<OrthogonalMixLayer>(in, std::make_shared<HouseholderMix>(HouseholderMixConfig{
          .channels = in.channels, .reflections = std::min<std::int64_t>(8, in.channels)})));
      break;
  }
  add_coupling(hidden, moves_first);
}

void Flow::add_coupling(std::int64_t hidden, bool moves_first) {
  const CouplingLayerConfig config{.in = shape(), .moves_first = moves_first};
  const auto moved = CouplingLayer::moved(config.in.channels, moves_first);
  const Shape kept{config.in.channels - moved, config.in.height, config.in.width};
  const auto net = [&](std::int64_t per_channel) { return coupling_net(kept, hidden, per_channel * moved); };
  switch (config_.coupling) {
    case FlowConfig::Coupling::additive: add(std::make_shared<AdditiveCouplingLayer>(config, net(1))); break;
    case FlowConfig::Coupling::affine: add(std::make_shared<AffineCouplingLayer>(config, config_.scale_bound, net(2))); break;
    case FlowConfig::Coupling::spline: {
      const SplineShape spline{.pieces = config_.spline_pieces, .bound = config_.spline_bound};
      add(std::make_shared<SplineCouplingLayer>(config, spline, net(SplineCouplingLayer::outputs_per_channel(spline))));
      break;
    }
  }
}

void Flow::add_passage(std::int64_t hidden) {
  if (config_.discard != FlowConfig::Discard::none) {
    const auto in = shape();
    const auto keep = in.channels / 2;
    const Shape kept{keep, in.height, in.width};
    const bool conditional = config_.discard == FlowConfig::Discard::conditional;
    add(std::make_shared<Slice>(SliceConfig{.in = in, .kept_channels = keep},
                                conditional ? small_net(kept, hidden, 2 * (in.channels - keep)) : nullptr));
  }
  const auto in = shape();
  if (config_.between == FlowConfig::Between::squeeze) {
    add(std::make_shared<Squeeze>(PixelUnshuffleConfig{in, 2, 2}));
    return;
  }
  const Shape pooled{in.channels, in.height / 2, in.width / 2};
  add(std::make_shared<MaxPool>(MaxPoolConfig{.in = in}, small_net(pooled, hidden, in.channels)));
}

Observed Flow::observe(const Tensor& x, const Tensor& noise) const {
  Observed out{{x, {}}, x.new_zeros({x.size(0)})};
  auto& y = out.yz.y;
  if (augmentation_) {
    require(noise.defined(), "Flow", "noise for the augmentation", "none");
    auto lifted = augmentation_->lift(x, noise);
    y = lifted.y;
    out.log_p = lifted.log_p;
  }
  for (const auto& layer : layers_) {
    auto [yz, log_p] = layer->observe(y);
    y = yz.y;
    for (auto& z : yz.z) out.yz.z.push_back(std::move(z));
    out.log_p = out.log_p + log_p;
  }
  out.log_p = out.log_p + standard_normal_log_p(y);
  return out;
}

Tensor Flow::invert(const Completion& yz) const {
  Tensor h = yz.y;
  auto z = yz.z.rbegin();
  for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
    if (!(*layer)->discards()) {
      h = (*layer)->invert({h, {}});
      continue;
    }
    require(z != yz.z.rend(), "Flow inverse", "a z for every layer that discards", fmt::format("{}", yz.z.size()));
    h = (*layer)->invert({h, {*z++}});
  }
  return augmentation_ ? augmentation_->drop(h) : h;
}

Completion Flow::draw(const FlowLayer::Draw& draw) const {
  Completion out;
  out.y = draw.temperature * draw.rng.fork(0).randn_per_image(out_shape().batched(draw.count), draw.first, options());
  std::uint64_t stream = 1;
  for (const auto& layer : layers_) {
    if (!layer->discards()) continue;
    auto part = draw;
    part.rng = draw.rng.fork(stream++);
    out.z.push_back(layer->draw_z(part, options()));
  }
  return out;
}

void Flow::start_from_data(const Tensor& x, const Tensor& noise) {
  const torch::NoGradGuard no_grad;
  Tensor h = augmentation_ ? augmentation_->lift(x, noise).y : x;
  for (const auto& layer : layers_) {
    layer->start_from_data(h);
    h = layer->forward(h);
  }
}

Tensor Flow::noise(std::int64_t count, const Rng& rng) const {
  if (!augmentation_) return {};
  return rng.randn(augmentation_->noise_shape().batched(count), options());
}

torch::TensorOptions Flow::options() const {
  const auto all = parameters();
  return all.empty() ? torch::TensorOptions(torch::kFloat32) : all.front().options().requires_grad(false);
}

void initialise_flow(Flow& flow, const Rng& rng) {
  const torch::NoGradGuard no_grad;
  std::uint64_t k = 0;
  for (const auto& module : flow.modules(/*include_self=*/false)) {
    if (auto* net = dynamic_cast<Subnet*>(module.get())) initialise_subnet(*net, rng.fork(k++));
    if (auto* mix = dynamic_cast<HouseholderMix*>(module.get())) {
      const auto& V = mix->weights();
      Tensor(V).copy_(rng.fork(k++).randn(V.sizes()));
    }
  }
}

}  // namespace spnn
