#include <spnn/checkpoint/module_state.h>
#include <spnn/core/json_fields.h>
#include <spnn/layers/init.h>
#include <spnn/layers/module_tree.h>
#include <spnn/training/critic.h>

#include <torch/csrc/autograd/autograd.h>

namespace spnn {
namespace {

constexpr double kCriticLeak = 0.2;

TrainConfig critic_training(const CriticConfig& c) {
  TrainConfig train;
  train.lr = c.lr;
  train.beta1 = 0;   // a moving opponent: no momentum
  train.beta2 = 0.99;
  return train;
}

Tensor plain_convolution(const Conv2d& layer, const Tensor& x) {
  return torch::conv2d(x, layer.weight, layer.bias, layer.config().stride, layer.config().padding);
}

std::map<std::string, Tensor> critic_prefixed(const std::string& prefix, const std::map<std::string, Tensor>& tensors) {
  std::map<std::string, Tensor> out;
  for (const auto& [name, value] : tensors) out[prefix + name] = value;
  return out;
}

std::map<std::string, Tensor> critic_part(const std::string& prefix, const std::map<std::string, Tensor>& tensors) {
  std::map<std::string, Tensor> out;
  for (const auto& [name, value] : tensors) {
    if (name.starts_with(prefix)) out[name.substr(prefix.size())] = value;
  }
  return out;
}

void set_trainable(std::vector<Tensor>& parameters, bool trainable) {
  for (auto& value : parameters) value.requires_grad_(trainable);
}

}  // namespace

void to_json(Json& json, const CriticConfig& c) {
  json = {{"widths", c.widths}, {"lr", c.lr}, {"r1", c.r1}, {"r1_every", c.r1_every}};
}

void from_json(const Json& json, CriticConfig& c) {
  JsonFields(json, "critic").optional("widths", c.widths).optional("lr", c.lr).optional("r1", c.r1).optional("r1_every", c.r1_every).no_others();
  require(!c.widths.empty() && c.lr > 0 && c.r1 >= 0 && c.r1_every > 0, "critic",
          "widths, a rate above 0, an r1 of 0 or more and r1_every above 0", json.dump());
}

Critic::Critic(const CriticConfig& config, std::int64_t channels) {
  auto in = 4 * channels;   // 2×2 pixels become channels
  for (std::size_t l = 0; l < config.widths.size(); ++l) {
    const auto layer = std::make_shared<Conv2d>(Conv2dConfig{.in = in, .out = config.widths[l], .stride = l == 0 ? 1 : 2});
    layers_.push_back(place(*this, fmt::format("layer.{}", l), layer));
    in = config.widths[l];
  }
  layers_.push_back(place(*this, "layer.last", std::make_shared<Conv2d>(Conv2dConfig{.in = in, .out = in})));
  head_ = place(*this, "head", std::make_shared<Conv2d>(Conv2dConfig{.in = in, .out = 1}));
}

Critic::Opinion Critic::look(const Tensor& x) const {
  Opinion out;
  auto h = torch::pixel_unshuffle(x, 2);
  for (const auto& layer : layers_) {
    h = torch::leaky_relu(plain_convolution(*layer, h), kCriticLeak);
    out.features.push_back(h);
  }
  out.patches = plain_convolution(*head_, h);
  return out;
}

CriticTraining::CriticTraining(const CriticConfig& config, std::int64_t channels, const Rng& rng)
    : config_(config),
      critic_(std::make_shared<Critic>(config, channels)),
      parameters_(critic_->parameters()),
      optimizer_(parameters_, critic_training(config)) {
  initialise(*critic_, rng, std::sqrt(2.0));
  set_trainable(parameters_, false);
}

Tensor CriticTraining::feature_distance(const Tensor& photos, const Tensor& moved) const {
  const auto theirs = critic_->look(moved).features;
  std::vector<Tensor> ours;
  {
    const torch::NoGradGuard no_grad;
    ours = critic_->look(photos).features;
  }
  Tensor sum;
  for (std::size_t l = 0; l < ours.size(); ++l) {
    const auto scale = ours[l].square().mean() + 1e-6;
    const auto part = (theirs[l].mean(0) - ours[l].mean(0)).square().mean() / scale;
    sum = sum.defined() ? sum + part : part;
  }
  return sum;
}

Tensor CriticTraining::loss(const Tensor& photos, const Tensor& moved, bool penalised) const {
  const auto real = penalised ? photos.detach().clone().requires_grad_() : photos.detach();
  const auto said = critic_->look(real).patches;
  auto total = torch::relu(1 - said).mean() + torch::relu(1 + critic_->look(moved.detach()).patches).mean();
  if (!penalised) return total;
  const auto gradient = torch::autograd::grad({said.flatten(1).mean(1).sum()}, {real}, {}, /*retain_graph=*/true, /*create_graph=*/true)[0];
  return total + config_.r1 * static_cast<double>(config_.r1_every) * gradient.square().flatten(1).sum(1).mean();
}

double CriticTraining::step(std::int64_t step, const Tensor& photos, const Tensor& moved, Communicator& communicator) {
  const torch::AutoGradMode grad(true);
  set_trainable(parameters_, true);
  optimizer_.zero_grad();
  const auto total = loss(photos, moved, config_.r1 > 0 && step % config_.r1_every == 0);
  total.backward();
  std::vector<Tensor> gradients;
  for (auto& value : parameters_) gradients.push_back(value.grad());
  communicator.average(gradients);
  optimizer_.step(config_.lr);
  set_trainable(parameters_, false);
  return total.item<double>();
}

std::map<std::string, Tensor> CriticTraining::state() const {
  auto out = critic_prefixed("critic.weights.", state_of(*critic_));
  out.merge(critic_prefixed("critic.optimizer.", optimizer_.state()));
  return out;
}

void CriticTraining::restore(const std::map<std::string, Tensor>& state) {
  const auto weights = critic_part("critic.weights.", state);
  if (weights.empty()) return;
  load_into(*critic_, weights, "the critic's state");
  optimizer_.restore(critic_part("critic.optimizer.", state));
}

}  // namespace spnn
