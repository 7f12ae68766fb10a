#pragma once

#include <spnn/core/rng.h>
#include <spnn/projection/back_projector.h>

#include <ATen/ops/linalg_qr.h>

namespace spnn::testing {

// The smallest non-linear pseudo-invertible map: u = Q x split into [u0 | u1], y = gain·u0 + tanh(mean of u1), z = u1,
// with r(y) = 0. Everything is in closed form.
class CurvedProjector final : public BackProjector {
 public:
  CurvedProjector(Shape in, std::int64_t outputs, std::uint64_t seed, double gain = 4) : in_(in), outputs_(outputs), gain_(gain) {
    const auto random = Rng(seed).randn({in.size(), in.size()}, torch::kFloat64);
    q_ = std::get<0>(at::linalg_qr(random));
  }

  Tensor forward(const Tensor& x) const override { return complete(x).y; }
  Tensor pinv(const Tensor& y) const override {
    return invert({y, {torch::zeros({y.size(0), in_.size() - outputs_}, y.options())}});
  }
  Probe probe(const Tensor& x) const override {
    auto at = complete(x);
    return {x, at.y, at};
  }
  using BackProjector::nlbp;
  Tensor nlbp(const Probe& probe, const Tensor& y, const Tensor& lambda) const override {
    return invert({probe.y + broadcast_over(lambda, y) * (y - probe.y), probe.at.z});
  }
  Shape in_shape() const override { return in_; }
  Shape out_shape() const override { return {outputs_, 1, 1}; }

  Completion complete(const Tensor& x) const {
    const auto u = x.flatten(1).matmul(q_.to(x.options()));
    const auto z = u.slice(1, outputs_);
    return {gain_ * u.slice(1, 0, outputs_) + torch::tanh(z.mean(1, true)), {z}};
  }
  Tensor invert(const Completion& yz) const {
    const auto u0 = (yz.y - torch::tanh(yz.z[0].mean(1, true))) * (1 / gain_);
    const auto u = torch::cat({u0, yz.z[0]}, 1);
    return u.matmul(q_.to(u.options()).t()).reshape(in_.batched(u.size(0)));
  }

 private:
  Shape in_;
  std::int64_t outputs_;
  double gain_;
  Tensor q_;
};

}  // namespace spnn::testing
