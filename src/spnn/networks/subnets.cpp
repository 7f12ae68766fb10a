#include <spnn/core/errors.h>
#include <spnn/layers/init.h>
#include <spnn/layers/layers.h>
#include <spnn/networks/subnets.h>

#include <numeric>

namespace spnn {
namespace {

using Activation = SubnetConfig::Activation;
using Op = SubnetLayer::Op;

Tensor activate(const Tensor& x, Activation activation) {
  return activation == Activation::relu ? torch::relu(x) : torch::silu(x);
}

Tensor finish(const Tensor& x, SubnetConfig::Output output) {
  return output == SubnetConfig::Output::tanh ? torch::tanh(x) : x;
}

constexpr std::int64_t largest_side_inside = 1 << 20;   // far from where numbers of pixels overflow

// Layers one after the other, named net.{i} as a torch Sequential with its activations counted would name them.
class SequentialSubnet final : public Subnet {
 public:
  SequentialSubnet(const SubnetConfig& config, const Shape& in, std::int64_t out_channels, const std::string& where)
      : activation_(config.activation), output_(config.output) {
    net_ = register_module("net", std::make_shared<torch::nn::Module>());
    Shape shape = in;
    std::size_t index = 0;
    for (std::size_t i = 0; i < config.layers.size(); ++i) {
      const auto& layer = config.layers[i];
      const bool last = i + 1 == config.layers.size();
      const auto name = fmt::format("{} layer {}", where, i);
      if (layer.op == Op::shuffle) {
        add_shuffle(layer, shape, name);
        ++index;
        continue;
      }
      require(layer.out > 0 || last, name, "a positive number of channels", fmt::format("{}", layer.out));
      add_layer(layer, shape, layer.out > 0 ? layer.out : out_channels, std::to_string(index), name);
      index += 2;
    }
    require(!steps_.empty() && steps_.back().factor == 0, where, "a convolution as the last layer", "a shuffle");
    const Shape expected{out_channels, in.height, in.width};
    require(shape == expected, where, fmt::format("an output of {}", to_string(expected)), to_string(shape));
  }

  Tensor forward(const Tensor& u) const override {
    Tensor h = u;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const auto& step = steps_[i];
      if (step.factor > 0) {
        h = torch::pixel_shuffle(h, step.factor);
        continue;
      }
      h = step.conv ? step.conv->forward(h) : step.up->forward(h);
      if (i + 1 < steps_.size()) h = activate(h, activation_);
    }
    return finish(h, output_);
  }

  torch::nn::Module& last_layer() override {
    auto& step = steps_.back();
    return step.conv ? static_cast<torch::nn::Module&>(*step.conv) : *step.up;
  }

 private:
  struct Step {
    std::int64_t factor = 0;
    std::shared_ptr<Conv2d> conv;
    std::shared_ptr<ConvTranspose2d> up;
  };

  static void require_sides(const Shape& shape, const std::string& where) {
    require(shape.height <= largest_side_inside && shape.width <= largest_side_inside, where,
            fmt::format("maps with sides up to {}", largest_side_inside), to_string(shape));
  }

  void add_shuffle(const SubnetLayer& layer, Shape& shape, const std::string& where) {
    const auto f = layer.factor;
    require(f > 0 && f <= largest_side_inside && shape.channels % (f * f) == 0, where,
            fmt::format("channels that a shuffle of {} divides", f), to_string(shape));
    shape = {shape.channels / (f * f), shape.height * f, shape.width * f};
    require_sides(shape, where);
    steps_.push_back({.factor = f, .conv = nullptr, .up = nullptr});
  }

  void add_layer(const SubnetLayer& layer, Shape& shape, std::int64_t out, const std::string& index,
                 const std::string& where) {
    if (layer.op == Op::up) {
      auto up = std::make_shared<ConvTranspose2d>(
          Conv2dConfig{.in = shape.channels, .out = out, .kernel = 4, .stride = 2, .padding = 1});
      net_->register_module(index, up);
      steps_.push_back({.factor = 0, .conv = nullptr, .up = up});
      shape = {out, shape.height * 2, shape.width * 2};
      require_sides(shape, where);
      return;
    }
    require(layer.kernel > 0 && layer.kernel % 2 == 1 && layer.stride > 0, where, "an odd kernel and a positive stride",
            fmt::format("{} and {}", layer.kernel, layer.stride));
    auto conv = std::make_shared<Conv2d>(Conv2dConfig{.in = shape.channels, .out = out, .kernel = layer.kernel,
                                                      .stride = layer.stride, .padding = layer.kernel / 2});
    net_->register_module(index, conv);
    steps_.push_back({.factor = 0, .conv = conv, .up = nullptr});
    shape = {out, (shape.height - 1) / layer.stride + 1, (shape.width - 1) / layer.stride + 1};
  }

  Activation activation_;
  SubnetConfig::Output output_;
  std::shared_ptr<torch::nn::Module> net_;
  std::vector<Step> steps_;
};

std::shared_ptr<Conv2d> same_conv(std::int64_t in, std::int64_t out, std::int64_t kernel) {
  return std::make_shared<Conv2d>(
      Conv2dConfig{.in = in, .out = out, .kernel = kernel, .stride = 1, .padding = kernel / 2});
}

// h + conv2(σ(conv1(σ(h)))), each σ after an optional group norm.
class ResidualBlock final : public torch::nn::Module {
 public:
  explicit ResidualBlock(const SubnetConfig& config) : activation_(config.activation) {
    const auto channels = config.hidden;
    conv1 = register_module("conv1", same_conv(channels, channels, config.kernel));
    conv2 = register_module("conv2", same_conv(channels, channels, config.kernel));
    if (!config.norm) return;
    const auto groups = std::gcd(channels, std::int64_t{8});
    norm1_ = register_module("norm1", std::make_shared<GroupNorm>(GroupNormConfig{channels, groups, 1e-5}));
    norm2_ = register_module("norm2", std::make_shared<GroupNorm>(GroupNormConfig{channels, groups, 1e-5}));
  }

  Tensor forward(const Tensor& h) const {
    const auto inner = conv1->forward(activated(h, norm1_.get()));
    return h + conv2->forward(activated(inner, norm2_.get()));
  }

  std::shared_ptr<Conv2d> conv1, conv2;

 private:
  Tensor activated(const Tensor& h, const GroupNorm* norm) const {
    if (norm == nullptr) return activate(h, activation_);
    return activation_ == Activation::silu ? norm->forward_silu(h) : torch::relu(norm->forward(h));
  }

  Activation activation_;
  std::shared_ptr<GroupNorm> norm1_, norm2_;
};

class ResidualSubnet final : public Subnet {
 public:
  ResidualSubnet(const SubnetConfig& config, std::int64_t in_channels, std::int64_t out_channels)
      : activation_(config.activation), output_(config.output) {
    auto net = register_module("net", std::make_shared<torch::nn::Module>());
    first_ = net->register_module("first", same_conv(in_channels, config.hidden, config.kernel));
    for (std::int64_t i = 0; i < config.depth; ++i) {
      blocks_.push_back(net->register_module(std::to_string(i), std::make_shared<ResidualBlock>(config)));
    }
    last_ = net->register_module("last", same_conv(config.hidden, out_channels, config.kernel));
  }

  Tensor forward(const Tensor& u) const override {
    Tensor h = first_->forward(u);
    for (const auto& block : blocks_) h = block->forward(h);
    return finish(last_->forward(activate(h, activation_)), output_);
  }

  torch::nn::Module& last_layer() override { return *last_; }
  const std::vector<std::shared_ptr<ResidualBlock>>& blocks() const { return blocks_; }

 private:
  Activation activation_;
  SubnetConfig::Output output_;
  std::shared_ptr<Conv2d> first_, last_;
  std::vector<std::shared_ptr<ResidualBlock>> blocks_;
};

SubnetConfig as_sequential(SubnetConfig config) {
  config.layers.assign(static_cast<std::size_t>(config.depth - 1), {.out = config.hidden, .kernel = config.kernel});
  config.layers.push_back({.out = 0, .kernel = config.kernel});
  return config;
}

}  // namespace

std::shared_ptr<Subnet> make_subnet(const SubnetConfig& config, const Shape& in, std::int64_t out_channels,
                                    const std::string& where) {
  if (config.kind == SubnetConfig::Kind::sequential) {
    return std::make_shared<SequentialSubnet>(config, in, out_channels, where);
  }
  require(config.hidden > 0 && config.depth > 0 && config.kernel > 0 && config.kernel % 2 == 1, where,
          "positive hidden and depth and an odd kernel",
          fmt::format("hidden {}, depth {}, kernel {}", config.hidden, config.depth, config.kernel));
  if (config.kind == SubnetConfig::Kind::residual) {
    return std::make_shared<ResidualSubnet>(config, in.channels, out_channels);
  }
  return std::make_shared<SequentialSubnet>(as_sequential(config), in, out_channels, where);
}

void initialise_subnet(Subnet& net, const Rng& rng) {
  initialise(net, rng, std::sqrt(2.0));
  if (auto* residual = dynamic_cast<ResidualSubnet*>(&net)) {
    // Branches start small, so that depth does not blow up the signal where nothing normalises it.
    const torch::NoGradGuard no_grad;
    for (const auto& block : residual->blocks()) block->conv2->weight.mul_(0.25);
  }
  zero_(net.last_layer());
}

}  // namespace spnn
