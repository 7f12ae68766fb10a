#pragma once

#include <spnn/core/errors.h>
#include <spnn/networks/spnn.h>

#include <algorithm>
#include <map>

namespace spnn::bench {

// NLBP as the public reference evaluates it: 4 forward and 3 inverse passes, every Cayley system solved again in each
// pass, plain torch convolutions. It reads the weights of an Spnn built from a reference preset and shares no code
// with it, so it also serves as a second opinion. With gradients it trains the weights of the Spnn.
class ReferenceNlbp {
 public:
  // s and t apart, and all nets given layer by layer, as the reference has them.
  static bool knows(const SpnnConfig& config) {
    const auto layered = [](const SubnetConfig& net) { return net.kind == SubnetConfig::Kind::sequential; };
    return std::ranges::all_of(config.blocks, [&](const auto& block) {
      if (const auto* surjection = std::get_if<SurjectionBlockConfig>(&block))
        return surjection->t.has_value() && layered(surjection->s) && layered(*surjection->t) && layered(surjection->r);
      return std::holds_alternative<UnshuffleBlockConfig>(block);
    });
  }

  explicit ReferenceNlbp(const Spnn& net, bool gradients = false) : config_(net.config()) {
    require(knows(config_), "reference NLBP", "a reference preset", "'" + config_.name + "'");
    for (const auto& item : net.named_parameters()) {
      weights_[item.key()] = gradients ? item.value() : item.value().detach();
    }
  }

  // G⁻¹(G(x) + λ(G(g†(y)) − G(g†(g(x)))))
  Tensor operator()(const Tensor& x, const Tensor& y, double lambda) const {
    const auto step = forward(inverse(as_image(y), nullptr)) - forward(inverse(forward(x).y, nullptr));
    const auto moved = forward(x) + lambda * step;
    return inverse(moved.y, &moved.z);
  }

  Completion forward(Tensor h) const {
    Completion out;
    for (std::size_t b = 0; b < config_.blocks.size(); ++b) {
      if (const auto* unshuffle = std::get_if<UnshuffleBlockConfig>(&config_.blocks[b])) {
        h = torch::pixel_unshuffle(h, unshuffle->factor_h);
        continue;
      }
      const auto& block = std::get<SurjectionBlockConfig>(config_.blocks[b]);
      const auto u = torch::conv2d(h, mixing(b, block.mix.epsilon).unsqueeze(-1).unsqueeze(-1));
      const auto u1 = u.narrow(1, block.out, u.size(1) - block.out);
      const auto scale = torch::exp(2.0 * torch::tanh(subnet(b, "s", block.s, u1)));
      h = u.narrow(1, 0, block.out) * scale + subnet(b, "t", *block.t, u1);
      out.z.push_back(u1);
    }
    out.y = h;
    return out;
  }

  // z = nullptr: predicted by r.
  Tensor inverse(Tensor h, const std::vector<Tensor>* z) const {
    auto level = z ? z->size() : 0;
    for (std::size_t b = config_.blocks.size(); b-- > 0;) {
      if (const auto* unshuffle = std::get_if<UnshuffleBlockConfig>(&config_.blocks[b])) {
        h = torch::pixel_shuffle(h, unshuffle->factor_h);
        continue;
      }
      const auto& block = std::get<SurjectionBlockConfig>(config_.blocks[b]);
      const auto u1 = z ? (*z)[--level] : subnet(b, "r", block.r, h);
      const auto scale = torch::exp(2.0 * torch::tanh(subnet(b, "s", block.s, u1)));
      const auto u0 = (h - subnet(b, "t", *block.t, u1)) / scale;
      const auto W = mixing(b, block.mix.epsilon);
      h = torch::conv2d(torch::cat({u0, u1}, 1), W.t().unsqueeze(-1).unsqueeze(-1));
    }
    return h;
  }

 private:
  static Tensor as_image(const Tensor& y) { return y.dim() == 2 ? y.unsqueeze(-1).unsqueeze(-1) : y; }

  const Tensor& weight(std::size_t block, const std::string& name) const {
    return weights_.at(fmt::format("pinn.blocks.{}.{}", block, name));
  }

  Tensor mixing(std::size_t block, double epsilon) const {
    const auto& B = weight(block, "mix.A_unconstrained");
    const auto I = torch::eye(B.size(0), B.options());
    const auto A = B - B.t();
    return torch::linalg_solve((1 + epsilon) * I + A, I - A, /*left=*/true);
  }

  Tensor subnet(std::size_t block, const char* which, const SubnetConfig& config, Tensor h) const {
    std::size_t index = 0;
    for (std::size_t i = 0; i < config.layers.size(); ++i) {
      const auto& layer = config.layers[i];
      if (layer.op == SubnetLayer::Op::shuffle) {
        h = torch::pixel_shuffle(h, layer.factor);
        ++index;
        continue;
      }
      const auto& w = weight(block, fmt::format("{}.net.{}.weight", which, index));
      const auto& bias = weight(block, fmt::format("{}.net.{}.bias", which, index));
      h = layer.op == SubnetLayer::Op::up ? torch::conv_transpose2d(h, w, bias, 2, 1)
                                          : torch::conv2d(h, w, bias, layer.stride, layer.kernel / 2);
      if (i + 1 < config.layers.size()) h = torch::relu(h);
      index += 2;
    }
    return config.output == SubnetConfig::Output::tanh ? torch::tanh(h) : h;
  }

  SpnnConfig config_;
  std::map<std::string, Tensor> weights_;
};

}  // namespace spnn::bench
