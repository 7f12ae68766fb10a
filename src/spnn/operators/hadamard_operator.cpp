#include <spnn/core/errors.h>
#include <spnn/core/rng.h>
#include <spnn/operators/hadamard_operator.h>

#include <ATen/ops/argsort.h>
#include <ATen/ops/stack.h>

#include <bit>
#include <cmath>

namespace spnn {

Tensor walsh_hadamard(const Tensor& x) {
  const auto n = x.size(-1);
  require(n > 0 && std::has_single_bit(static_cast<std::uint64_t>(n)), "Walsh–Hadamard transform", "a power of two",
          fmt::format("{}", n));
  auto out = x.reshape({-1, n});
  for (std::int64_t half = 1; half < n; half *= 2) {
    const auto pairs = out.reshape({-1, n / (2 * half), 2, half});
    const auto a = pairs.select(2, 0), b = pairs.select(2, 1);
    out = at::stack({a + b, a - b}, 2);
  }
  return out.reshape(x.sizes()) * (1 / std::sqrt(static_cast<double>(n)));
}

HadamardOperator::HadamardOperator(const HadamardConfig& c) : LinearOperator("HadamardOperator"), in_(c.in) {
  const auto n = in_.height * in_.width;
  require(std::has_single_bit(static_cast<std::uint64_t>(n)), "Walsh–Hadamard sensing",
          "an image whose number of pixels is a power of two", to_string(in_));
  require(c.keep > 0 && c.keep < 1, "Walsh–Hadamard sensing", "a share to keep between 0 and 1", fmt::format("{}", c.keep));
  const auto count = std::clamp<std::int64_t>(std::llround(c.keep * static_cast<double>(n)), 1, n - 1);
  shuffle_ = Rng(c.seed).fork(0).permutation(n);
  unshuffle_ = at::argsort(shuffle_);
  auto order = Rng(c.seed).fork(1).permutation(n);
  const auto others = order.masked_select(order != 0).narrow(0, 0, count - 1);
  kept_ = std::get<0>(at::sort(torch::cat({torch::zeros({1}, torch::kInt64), others})));
  auto S = torch::zeros({n}, torch::kFloat64);
  S.index_fill_(0, kept_, 1.0);
  set_singular_values(S.repeat({in_.channels}));
}

Tensor HadamardOperator::Vt(const Tensor& x) const {
  return walsh_hadamard(x.flatten(2).index_select(2, shuffle_)).flatten(1);
}

Tensor HadamardOperator::V(const Tensor& v) const {
  const auto planes = v.reshape({v.size(0), in_.channels, -1});
  return walsh_hadamard(planes).index_select(2, unshuffle_).reshape(in_.batched(v.size(0)));
}

Tensor HadamardOperator::Ut(const Tensor& y) const {
  const auto planes = y.reshape({y.size(0), in_.channels, -1});
  const auto blank = torch::zeros({y.size(0), in_.channels, in_.height * in_.width}, y.options());
  return blank.index_copy(2, kept_, planes).flatten(1);
}

Tensor HadamardOperator::U(const Tensor& u) const {
  return u.reshape({u.size(0), in_.channels, -1}).index_select(2, kept_).flatten(1);
}

}  // namespace spnn
