#include <spnn/core/errors.h>
#include <spnn/flows/channel_mix.h>
#include <spnn/layers/new_weights.h>

namespace spnn {

OrthogonalMixLayer::OrthogonalMixLayer(const Shape& in, std::shared_ptr<OrthogonalMix> mix)
    : FlowLayer(in, in), mix_(std::move(mix)) {
  require(mix_ && mix_->channels() == in.channels, "OrthogonalMixLayer", fmt::format("a mix of {} channels", in.channels),
          mix_ ? fmt::format("{}", mix_->channels()) : "none");
  register_module("mix", mix_);
}

Observed OrthogonalMixLayer::observe(const Tensor& x) const {
  require_shape(x, in_shape(), "OrthogonalMixLayer");
  return {{mix_->forward(x), {}}, x.new_zeros({x.size(0)})};
}

Tensor OrthogonalMixLayer::invert(const Completion& yz) const { return mix_->inverse(yz.y); }

LuMixLayer::LuMixLayer(const Shape& in, const Rng& rng) : FlowLayer(in, in) {
  const auto C = in.channels;
  count_weights({C, C});
  P_ = register_buffer("P", torch::eye(C).index_select(0, rng.permutation(C)));
  sign_ = register_buffer("sign", new_weights({C}, 1));
  lower_ = register_parameter("lower", new_weights({C, C}));
  upper_ = register_parameter("upper", new_weights({C, C}));
  log_s_ = register_parameter("log_s", new_weights({C}));
}

Tensor LuMixLayer::matrix() const {
  const auto L = torch::tril(lower_, -1) + torch::eye(lower_.size(0), lower_.options());
  const auto U = torch::triu(upper_, 1) + torch::diag(sign_ * torch::exp(log_s_));
  return P_.mm(L).mm(U);
}

Observed LuMixLayer::observe(const Tensor& x) const {
  require_shape(x, in_shape(), "LuMixLayer");
  const auto positions = static_cast<double>(in_shape().height * in_shape().width);
  return {{mix_channels(matrix(), x), {}}, per_image(log_s_.sum() * positions, x)};
}

Tensor LuMixLayer::invert(const Completion& yz) const {
  require_shape(yz.y, out_shape(), "LuMixLayer inverse");
  const auto W = matrix();
  // In double, rounded once: sampling goes through many of these.
  const auto W_inverse = torch::linalg_inv(W.to(torch::kFloat64)).to(W.scalar_type());
  return mix_channels(W_inverse, yz.y);
}

}  // namespace spnn
