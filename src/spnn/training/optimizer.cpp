#include <spnn/core/errors.h>
#include <spnn/training/optimizer.h>

#include <torch/nn/utils/clip_grad.h>
#include <torch/optim/adamw.h>

#include <sstream>
#include <type_traits>

namespace spnn {

struct Optimizer::Adam : torch::optim::AdamW {
  using torch::optim::AdamW::AdamW;
};

namespace {

// libtorch 2 keys Adam's state by the address of a parameter's implementation, libtorch 1.13 by the text of that address.
template <class States>
typename States::key_type key(const States&, const Tensor& parameter) {
  if constexpr (std::is_pointer_v<typename States::key_type>) {
    return parameter.unsafeGetTensorImpl();
  } else {
    std::ostringstream text;
    text << parameter.unsafeGetTensorImpl();
    return text.str();
  }
}

}  // namespace

Optimizer::Optimizer(std::vector<Tensor> parameters, const TrainConfig& c)
    : parameters_(std::move(parameters)),
      adam_(std::make_unique<Adam>(
          parameters_,
          torch::optim::AdamWOptions(c.lr).betas({c.beta1, c.beta2}).weight_decay(c.weight_decay).eps(1e-8))) {}

Optimizer::~Optimizer() = default;

void Optimizer::zero_grad() { adam_->zero_grad(); }

double Optimizer::clip(double largest_norm) { return torch::nn::utils::clip_grad_norm_(parameters_, largest_norm); }

void Optimizer::step(double learning_rate) {
  for (auto& group : adam_->param_groups()) group.options().set_lr(learning_rate);
  adam_->step();
}

std::map<std::string, Tensor> Optimizer::state() const {
  std::map<std::string, Tensor> out;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const auto found = adam_->state().find(key(adam_->state(), parameters_[i]));
    if (found == adam_->state().end()) continue;   // it has had no gradient yet
    const auto& state = static_cast<const torch::optim::AdamWParamState&>(*found->second);
    out[fmt::format("m.{}", i)] = state.exp_avg();
    out[fmt::format("v.{}", i)] = state.exp_avg_sq();
    out[fmt::format("steps.{}", i)] = torch::full({1}, state.step(), torch::kInt64);
  }
  return out;
}

void Optimizer::restore(const std::map<std::string, Tensor>& stored) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const auto m = stored.find(fmt::format("m.{}", i));
    if (m == stored.end()) continue;
    auto state = std::make_unique<torch::optim::AdamWParamState>();
    state->exp_avg(m->second.clone());
    state->exp_avg_sq(stored.at(fmt::format("v.{}", i)).clone());
    state->step(stored.at(fmt::format("steps.{}", i)).item<std::int64_t>());
    adam_->state()[key(adam_->state(), parameters_[i])] = std::move(state);
  }
}

}  // namespace spnn
