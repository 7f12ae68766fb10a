#include <spnn/core/errors.h>
#include <spnn/operators/separable_operator.h>

#include <ATen/ops/constant_pad_nd.h>

namespace spnn {
namespace {

// L X Rᵀ on every channel, each by itself: a product folded over the batch is rounded in another way for another number of images.
Tensor both_sides(const Tensor& L, const Tensor& x, const Tensor& R) {
  const auto planes = x.flatten(0, 1);
  const auto each = [&](const Tensor& M) { return M.to(x.options()).expand({planes.size(0), -1, -1}); };
  const auto out = torch::bmm(torch::bmm(each(L), planes), each(R.t()));
  return out.view({x.size(0), x.size(1), out.size(1), out.size(2)});
}

Tensor padded(const Tensor& x, std::int64_t height, std::int64_t width) {
  return at::constant_pad_nd(x, {0, width - x.size(-1), 0, height - x.size(-2)});
}

}  // namespace

SeparableOperator::SeparableOperator(const SeparableConfig& c, std::string where)
    : LinearOperator(where), config_(c), h_(svd_of(c.factors.A_h, where)), w_(svd_of(c.factors.A_w, where)) {
  require(c.factors.A_h.size(1) == c.in.height && c.factors.A_w.size(1) == c.in.width, where,
          fmt::format("factors for {}", to_string(c.in)),
          fmt::format("{} × {}", c.factors.A_h.size(1), c.factors.A_w.size(1)));
  require(c.cut >= 0 && c.cut < 1, where, "a cut in [0, 1)", fmt::format("{}", c.cut));
  auto S = padded(h_.S.unsqueeze(1) * w_.S.unsqueeze(0), c.in.height, c.in.width);
  // Even without a cut what double precision cannot tell from zero is zero.
  S = torch::where(S <= std::max(c.cut, 1e-12) * S.max(), torch::zeros_like(S), S);
  set_singular_values(S.reshape({-1}).repeat({c.in.channels}));
}

Tensor SeparableOperator::Vt(const Tensor& x) const { return both_sides(h_.V.t(), x, w_.V.t()).flatten(1); }

Tensor SeparableOperator::V(const Tensor& v) const {
  return both_sides(h_.V, v.reshape(config_.in.batched(v.size(0))), w_.V);
}

Tensor SeparableOperator::Ut(const Tensor& y) const {
  const auto u = both_sides(h_.U.t(), y.reshape(out_shape().batched(y.size(0))), w_.U.t());
  return padded(u, config_.in.height, config_.in.width).flatten(1);
}

Tensor SeparableOperator::U(const Tensor& u) const {
  const auto full = u.reshape(config_.in.batched(u.size(0)));
  const auto seen = full.narrow(2, 0, h_.S.size(0)).narrow(3, 0, w_.S.size(0));
  return as_interface(both_sides(h_.U, seen, w_.U), out_shape());
}

}  // namespace spnn
