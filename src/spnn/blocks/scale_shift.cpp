#include <spnn/blocks/scale_shift.h>
#include <spnn/core/errors.h>

namespace spnn {

ScaleShift::ScaleShift(CouplingNets nets, double scale_bound) : nets_(std::move(nets)), scale_bound_(scale_bound) {
  const bool apart = nets_.t && !nets_.st;
  const bool shared = nets_.st && !nets_.s && !nets_.t;
  require(apart || shared, "ScaleShift", "the nets s and t, t alone, or st alone",
          fmt::format("{}{}{}", nets_.s ? "s " : "", nets_.t ? "t " : "", nets_.st ? "st" : ""));
  require(scale_bound > 0, "ScaleShift", "a positive scale bound", fmt::format("{}", scale_bound));
}

void ScaleShift::register_into(torch::nn::Module& owner) const {
  if (nets_.s) owner.register_module("s", nets_.s);
  if (nets_.t) owner.register_module("t", nets_.t);
  if (nets_.st) owner.register_module("st", nets_.st);
}

ScaleShift::Parts ScaleShift::parts(const Tensor& u1) const {
  if (nets_.st) {
    const auto both = nets_.st->forward(u1).chunk(2, 1);
    return {scale_bound_ * torch::tanh(both[0]), both[1]};
  }
  if (!nets_.s) return {{}, nets_.t->forward(u1)};
  return {scale_bound_ * torch::tanh(nets_.s->forward(u1)), nets_.t->forward(u1)};
}

Tensor ScaleShift::apply(const Tensor& u0, const Tensor& u1) const {
  const auto [log_scale, shift] = parts(u1);
  return log_scale.defined() ? torch::addcmul(shift, u0, torch::exp(log_scale)) : u0 + shift;
}

Tensor ScaleShift::undo(const Tensor& y, const Tensor& u1) const {
  const auto [log_scale, shift] = parts(u1);
  return log_scale.defined() ? (y - shift) * torch::exp(-log_scale) : y - shift;
}

}  // namespace spnn
