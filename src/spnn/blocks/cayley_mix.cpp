#include <spnn/blocks/cayley_mix.h>
#include <spnn/core/errors.h>
#include <spnn/layers/new_weights.h>

#include <torch/csrc/autograd/custom_function.h>

namespace spnn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

// x [batch, n] ↦ c·M⁻¹x − x (or with Mᵀ), c = 2 + ε, for M = (1+ε)I + B − Bᵀ given by its LU. The gradient of B is
// written down instead of differentiating the factorisation, which would cost n³ a pass.
class CayleyApply : public torch::autograd::Function<CayleyApply> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& /*B*/, const Tensor& lu,
                        const Tensor& pivots, double c, bool transposed) {
    const auto w = at::linalg_lu_solve(lu, pivots, x.t(), /*left=*/true, /*adjoint=*/transposed);   // [n, batch]
    context->save_for_backward({w, lu, pivots});
    context->saved_data["c"] = c;
    context->saved_data["transposed"] = transposed;
    return c * w.t() - x;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto& w = saved[0];
    const auto c = context->saved_data["c"].toDouble();
    const auto transposed = context->saved_data["transposed"].toBool();
    const auto& grad = gradients[0];
    const auto v = at::linalg_lu_solve(saved[1], saved[2], grad.t(), /*left=*/true, /*adjoint=*/!transposed);
    const auto dM = (transposed ? torch::mm(w, v.t()) : torch::mm(v, w.t())) * -c;
    return {c * v.t() - grad, dM - dM.t(), Variable(), Variable(), Variable(), Variable()};
  }
};

}  // namespace

CayleyMix::CayleyMix(const CayleyMixConfig& config) : OrthogonalMix(config.channels), epsilon_(config.epsilon) {
  require(config.channels > 0 && config.epsilon >= 0, "CayleyMix", "positive channels and ε ≥ 0",
          fmt::format("{} channels, ε = {}", config.channels, config.epsilon));
  B_ = register_parameter("A_unconstrained", new_weights({config.channels, config.channels}));
}

Tensor CayleyMix::matrix_of(const Tensor& B) const {
  const auto I = torch::eye(B.size(0), B.options());
  const auto A = B - B.t();
  return torch::linalg_solve((1.0 + epsilon_) * I + A, I - A, /*left=*/true);
}

bool CayleyMix::factorised_pays(const Tensor& x) const {
  return wants_gradient() && in_scope() && x.size(2) == 1 && x.size(3) == 1 && channels() >= 128 &&
         2 * x.size(0) < channels();
}

Tensor CayleyMix::apply(const Tensor& x, bool transposed) const {
  if (!factorised_pays(x)) return OrthogonalMix::apply(x, transposed);
  if (!shared_lu_.defined()) {
    const torch::NoGradGuard no_grad;
    const auto M = B_ - B_.t() + (1.0 + epsilon_) * torch::eye(channels(), B_.options());
    std::tie(shared_lu_, shared_pivots_) = at::linalg_lu_factor(M);
  }
  return CayleyApply::apply(x.flatten(1), B_, shared_lu_, shared_pivots_, 2.0 + epsilon_, transposed)
      .unsqueeze(-1)
      .unsqueeze(-1);
}

void CayleyMix::forget_shared() const {
  OrthogonalMix::forget_shared();
  shared_lu_.reset();
  shared_pivots_.reset();
}

}  // namespace spnn
