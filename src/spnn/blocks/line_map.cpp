#include <spnn/blocks/line_map.h>
#include <spnn/core/errors.h>
#include <spnn/layers/new_weights.h>

#include <cmath>

namespace spnn {
namespace {

// The orthogonal matrix that a rounded one stands for: Q ← Q(3I − QᵀQ)/2 squares the distance at every step.
Tensor orthogonal_again(const Tensor& rounded) {
  auto Q = rounded.detach().to(torch::kFloat64).flatten(0, 1);
  const auto I = torch::eye(Q.size(-1), Q.options());
  for (int step = 0; step < 4; ++step) {
    const auto gram = Q.transpose(1, 2).matmul(Q);
    const auto off = (gram - I).abs().max().item<double>();
    require(off < 0.1, "LineMap", "orthogonal matrices U and V", fmt::format("ones off by {:.2g}", off));
    Q = Q.matmul(1.5 * I - 0.5 * gram);
  }
  return Q;
}

std::int64_t version_of(const Tensor& t) { return t.is_inference() ? 0 : static_cast<std::int64_t>(t._version()); }

}  // namespace

LineMap::LineMap(const LineMapConfig& config) : Block(config.in, config.in), config_(config) {
  require(config.gain_bound > 0, "LineMap", "a positive gain bound", fmt::format("{}", config.gain_bound));
  const auto& in = config.in;
  const bool rows = config.axis == Axis::rows;
  const auto sets = config.colours ? in.channels : 1, lines = rows ? in.height : in.width, n = rows ? in.width : in.height;
  count_weights({2 * sets, lines, n, n});
  const auto identity = torch::eye(n).expand({sets, lines, n, n});
  U_ = register_buffer("U", identity.clone());
  V_ = register_buffer("V", identity.clone());
  gains_ = register_parameter("gains", new_weights({sets, lines, n}));
  shift_ = register_parameter("shift", new_weights({in.channels, in.height, in.width}));
}

LineMap::Orthogonal LineMap::exact() const {
  const std::lock_guard lock(mutex_);
  const std::pair<const void*, std::int64_t> now{U_.data_ptr(), version_of(U_) + version_of(V_)};
  if (exact_.U.defined() && exact_of_ == now && exact_.U.scalar_type() == U_.scalar_type() && exact_.U.device() == U_.device()) return exact_;
  const c10::InferenceMode off(false);   // the cache may later be part of a graph, which inference tensors cannot
  const torch::NoGradGuard no_grad;
  exact_ = {orthogonal_again(U_).to(U_.options()).contiguous(), orthogonal_again(V_).to(V_.options()).contiguous()};
  exact_of_ = now;
  return exact_;
}

Tensor LineMap::log_gain() const { return (config_.gain_bound * torch::tanh(gains_)).view({sets() * lines(), length(), 1}); }

Tensor LineMap::by_line(const Tensor& x) const {
  const auto h = config_.axis == Axis::rows ? x : x.transpose(2, 3);   // [B, C, lines, n]
  if (config_.colours) return h.permute({1, 2, 3, 0}).reshape({sets() * lines(), length(), x.size(0)});
  return h.permute({2, 3, 1, 0}).reshape({lines(), length(), x.size(1) * x.size(0)});
}

Tensor LineMap::by_picture(const Tensor& rows, std::int64_t batch) const {
  const auto c = config_.in.channels;
  const auto h = config_.colours ? rows.view({c, lines(), length(), batch}).permute({3, 0, 1, 2})
                                 : rows.view({lines(), length(), c, batch}).permute({3, 2, 0, 1});
  return (config_.axis == Axis::rows ? h : h.transpose(2, 3)).contiguous();
}

Completion LineMap::complete(const Tensor& x) const {
  require_shape(x, in_shape(), "LineMap");
  const auto [U, V] = exact();
  const auto scaled = V.transpose(1, 2).matmul(by_line(x)) * torch::exp(log_gain());
  return {by_picture(U.matmul(scaled), x.size(0)) + shift_, {}};
}

Tensor LineMap::pinv(const Tensor& y) const {
  require_shape(y, out_shape(), "LineMap inverse");
  const auto [U, V] = exact();
  const auto scaled = U.transpose(1, 2).matmul(by_line(y - shift_)) * torch::exp(-log_gain());
  return by_picture(V.matmul(scaled), y.size(0));
}

void LineMap::set(const Tensor& W, double least) {
  require(W.sizes() == U_.sizes(), "LineMap::set", "matrices " + to_string(U_.sizes()), to_string(W.sizes()));
  require(least > 0, "LineMap::set", "a least gain above 0", fmt::format("{}", least));
  const torch::NoGradGuard no_grad;
  const auto [U, S, Vt] = torch::linalg_svd(W.to(torch::kFloat64), /*full_matrices=*/true);
  const double b = config_.gain_bound, most = std::exp(0.95 * b);
  const auto gains = S.clamp(std::max(least, 1 / most), most);
  U_.copy_(U);
  V_.copy_(Vt.transpose(2, 3));
  gains_.copy_(torch::atanh(torch::log(gains) / b));
  shift_.zero_();
}

void LineMap::start_at(const Tensor& from, const Tensor& to, const Tensor& near, double ridge, double least) {
  require_shape(from, in_shape(), "LineMap::start_at");
  require_shape(to, out_shape(), "LineMap::start_at");
  require(ridge > 0, "LineMap::start_at", "a ridge above 0", fmt::format("{}", ridge));
  const torch::NoGradGuard no_grad;
  const auto centred = [&](const Tensor& x) {
    const auto rows = by_line(x.to(torch::kFloat64) - x.to(torch::kFloat64).mean(0, /*keepdim=*/true));
    return rows / std::sqrt(static_cast<double>(rows.size(2)));
  };
  const auto x = centred(from), y = centred(to), xt = x.transpose(1, 2);
  const auto W0 = near.to(torch::kFloat64).flatten(0, 1);
  const auto I = torch::eye(length(), W0.options());
  const auto W = torch::linalg_solve(x.matmul(xt) + ridge * I, y.matmul(xt) + ridge * W0, /*left=*/false);
  set(W.view(U_.sizes()), least);
  shift_.copy_((to - forward(from)).mean(0));
}

}  // namespace spnn
