#include <spnn/training/phase_losses.h>

#include <algorithm>

namespace spnn {
namespace {

// The mean over all elements of Σ_l ‖a_l − b_l‖².
Tensor mean_square(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  Tensor sum;
  std::int64_t elements = 0;
  for (std::size_t l = 0; l < a.size(); ++l) {
    const auto part = (a[l] - b[l]).square().sum();
    sum = sum.defined() ? sum + part : part;
    elements += a[l].numel();
  }
  return sum / static_cast<double>(elements);
}

struct InverseWithQ {
  Tensor x_hat;             // g†(y)
  std::vector<Tensor> q;    // r's outputs on the way, which are q(g†(y)): no forward pass over g†(y)
};

InverseWithQ invert_with_q(const Spnn& net, const Spnn::RSet& r, const Tensor& y) {
  InverseWithQ out{.x_hat = {}, .q = std::vector<Tensor>(r.size())};
  out.x_hat = net.descend(y, [&](std::size_t l, const Tensor& y_l) { return out.q[l] = r[l]->forward(y_l); });
  return out;
}

// r_l learns the mean of z_l given what g† has at that level, so that errors of one level do not grow in the next.
Tensor rollout_loss(const Spnn& net, const Spnn::RSet& r, const Spnn::Trace& trace) {
  const bool gradients = torch::GradMode::is_enabled();
  const torch::NoGradGuard no_pass_through_the_inverse;
  std::vector<Tensor> parts_by_level(r.size());
  net.descend(trace.y, [&](std::size_t l, const Tensor& y_l) {
    const torch::AutoGradMode for_r(gradients);
    const auto z = r[l]->forward(y_l);
    parts_by_level[l] = torch::mse_loss(z, trace.levels[l].z);
    return z.detach();
  });
  const torch::AutoGradMode for_sum(gradients);
  return torch::stack(parts_by_level).sum();
}

}  // namespace

Losses inverse_losses(const Spnn& net, const Tensor& x, const Spnn::Trace& trace, const PhaseOneLosses& lambda, std::int64_t inverse_every) {
  Losses parts;
  if (lambda.regression > 0) {
    parts.emplace_back("regression", lambda.regression * regression_loss(trace.levels, net.r_set()));
  }
  if (std::max({lambda.stability, lambda.surjectivity, lambda.range}) == 0) return parts;
  const auto some = every_nth(trace, inverse_every);
  if (lambda.stability > 0 || lambda.surjectivity > 0) {
    const auto x_hat = net.pinv(some.y);
    if (lambda.surjectivity > 0) {
      parts.emplace_back("surjectivity", lambda.surjectivity * torch::mse_loss(net.forward(x_hat), some.y));
    }
    if (lambda.stability > 0) {
      parts.emplace_back("stability", lambda.stability * torch::mse_loss(x_hat, x.slice(0, 0, x.size(0), inverse_every)));
    }
  }
  if (lambda.range > 0) parts.emplace_back("range", lambda.range * range_loss(net, some, net.r_set()));
  return parts;
}

std::vector<Tensor> q_of_zero(const Spnn& net) {
  const torch::NoGradGuard no_grad;
  return net.complete(torch::zeros(net.in_shape().batched(1), net.options())).z;
}

Losses phase_two_losses(const Spnn& net, const Spnn::RSet& r, const PhaseTwoLosses& lambda, const Tensor& x,
                        const std::vector<Tensor>& q_of_zero) {
  Spnn::Trace trace;
  {
    const torch::NoGradGuard frozen;
    trace = net.trace(x);
  }
  Losses out;
  if (lambda.regression > 0) out.emplace_back("regression", lambda.regression * regression_loss(trace.levels, r));
  if (lambda.rollout > 0) out.emplace_back("rollout", lambda.rollout * rollout_loss(net, r, trace));
  if (lambda.range > 0) out.emplace_back("range", lambda.range * range_loss(net, trace, r));
  if (std::max({lambda.natural, lambda.stability, lambda.surjectivity, lambda.min_norm}) == 0) return out;
  const auto inverse = invert_with_q(net, r, trace.y);
  if (lambda.natural > 0) out.emplace_back("natural", lambda.natural * mean_square(inverse.q, q_of_zero));
  if (lambda.stability > 0) out.emplace_back("stability", lambda.stability * torch::mse_loss(inverse.x_hat, x));
  if (lambda.surjectivity > 0) {
    out.emplace_back("surjectivity", lambda.surjectivity * torch::mse_loss(net.forward(inverse.x_hat), trace.y));
  }
  if (lambda.min_norm > 0) out.emplace_back("min_norm", lambda.min_norm * inverse.x_hat.square().mean());
  return out;
}

Tensor range_loss(const Spnn& net, const Spnn::Trace& trace, const Spnn::RSet& r) {
  const auto moved = net.descend(trace.y.roll(1, 0), [&](std::size_t l, const Tensor& y_l) {
    const auto& [y, z] = trace.levels[l];
    return z - r[l]->forward(y) + r[l]->forward(y_l);
  });
  return torch::relu(moved.abs() - 1).square().mean();
}

Spnn::Trace every_nth(const Spnn::Trace& trace, std::int64_t n) {
  const auto some = [&](const Tensor& all) { return all.slice(0, 0, all.size(0), n); };
  Spnn::Trace out{.y = some(trace.y), .levels = {}};
  for (const auto& level : trace.levels) out.levels.push_back({some(level.y), some(level.z)});
  return out;
}

Tensor regression_loss(const std::vector<Spnn::Level>& levels, const Spnn::RSet& r) {
  Tensor sum;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const auto part = torch::mse_loss(r[l]->forward(levels[l].y), levels[l].z);
    sum = sum.defined() ? sum + part : part;
  }
  return sum;
}

}  // namespace spnn
