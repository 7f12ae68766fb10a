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

Critic::Critic(const CriticConfig& config, const CriticInput& input) {
  auto in = 4 * input.channels;   // 2×2 pixels become channels
  auto side = input.image_size / 2;
  for (std::size_t l = 0; l < config.widths.size(); ++l) {
    if (l > 0) side = (side + 1) / 2;
    const auto layer = std::make_shared<Conv2d>(Conv2dConfig{.in = in, .out = config.widths[l], .stride = l == 0 ? 1 : 2});
    layers_.push_back(place(*this, fmt::format("layer.{}", l), layer));
    in = config.widths[l];
  }
  layers_.push_back(place(*this, "layer.last", std::make_shared<Conv2d>(Conv2dConfig{.in = in, .out = in})));
  head_ = place(*this, "head", std::make_shared<Conv2d>(Conv2dConfig{.in = in, .out = 1}));
  if (input.wishes > 0) wishes_ = place(*this, "wishes", std::make_shared<Linear>(in * side * side, input.wishes));
}

Critic::Opinion Critic::look(const Tensor& x) const {
  Opinion out;
  auto h = torch::pixel_unshuffle(x, 2);
  for (const auto& layer : layers_) {
    h = torch::leaky_relu(plain_convolution(*layer, h), kCriticLeak);
    out.features.push_back(h);
  }
  out.patches = plain_convolution(*head_, h);
  if (wishes_) out.wishes = torch::linear(h.flatten(1), wishes_->weight, wishes_->bias);
  return out;
}

Tensor met(const Critic::Opinion& opinion, const Tensor& wish) {
  return (opinion.wishes * wish).sum(1) / wish.abs().sum(1).clamp_min(1);
}

CriticTraining::CriticTraining(const CriticConfig& config, const CriticInput& input, const Rng& rng)
    : config_(config),
      input_(input),
      critic_(std::make_shared<Critic>(config, input)),
      parameters_(critic_->parameters()),
      optimizer_(parameters_, critic_training(config)) {
  initialise(*critic_, rng, std::sqrt(2.0));
  set_trainable(parameters_, false);
}

Tensor CriticTraining::feature_distance(const Tensor& photos, const Critic::Opinion& moved) const {
  const auto& theirs = moved.features;
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

Tensor CriticTraining::loss(const CriticSample& sample, bool penalised) const {
  const auto photos = penalised ? sample.photos.detach().clone().requires_grad_() : sample.photos.detach();
  const auto real = critic_->look(photos), moved = critic_->look(sample.moved.detach());
  auto total = torch::relu(1 - real.patches).mean() + torch::relu(1 + moved.patches).mean();
  auto score = real.patches.flatten(1).mean(1);
  if (input_.wishes > 0) {
    const auto has = met(real, sample.wish);
    const auto has_not = [&](const Critic::Opinion& image) { return torch::relu(1 + met(image, sample.wish)).mean(); };
    total = total + torch::relu(1 - has).mean() + 0.5 * (has_not(moved) + has_not(critic_->look(sample.before.detach())));
    score = score + has;
  }
  if (!penalised) return total;
  const auto gradient = torch::autograd::grad({score.sum()}, {photos}, {}, /*retain_graph=*/true, /*create_graph=*/true)[0];
  return total + config_.r1 * static_cast<double>(config_.r1_every) * gradient.square().flatten(1).sum(1).mean();
}

double CriticTraining::step(std::int64_t step, const CriticSample& sample, Communicator& communicator) {
  const torch::AutoGradMode grad(true);
  set_trainable(parameters_, true);
  optimizer_.zero_grad();
  const auto total = loss(sample, config_.r1 > 0 && step % config_.r1_every == 0);
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
