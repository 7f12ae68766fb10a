#include <spnn/kernels/conv3x3.h>

#include <spnn/kernels/weight_cache.h>
#include <spnn/kernels/winograd.h>

#include <torch/csrc/autograd/custom_function.h>

namespace spnn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

thread_local bool exact_convolution = false;

kernels::ConvolutionShape shape_of(const Tensor& x, std::int64_t k) {
  return {x.size(0), x.size(1), x.size(2), x.size(3), k};
}

Tensor transformed(const Tensor& weight, bool adjoint) {
  const std::int64_t k = weight.size(0), c = weight.size(1);
  Tensor u = torch::empty({adjoint ? kernels::winograd_weight_floats(c, k) : kernels::winograd_weight_floats(k, c)});
  kernels::winograd_weight(weight.data_ptr<float>(), k, c, adjoint, u.data_ptr<float>());
  return u;
}

Tensor convolve(const Tensor& x, const Tensor& u, std::int64_t k, const Tensor& bias) {
  Tensor y = torch::empty({x.size(0), k, x.size(2), x.size(3)}, x.options());
  kernels::winograd_convolution(shape_of(x, k), x.data_ptr<float>(), u.data_ptr<float>(),
                                bias.defined() ? bias.data_ptr<float>() : nullptr, y.data_ptr<float>());
  return y;
}

class WinogradFunction : public torch::autograd::Function<WinogradFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight, const Tensor& bias) {
    context->save_for_backward({x, weight});
    return convolve(x, transformed(weight, false), weight.size(0), bias);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor& x = saved[0];
    const Tensor& weight = saved[1];
    const Tensor dy = gradients[0].contiguous();
    Tensor dx, dw, db;
    if (context->needs_input_grad(0)) dx = convolve(dy, transformed(weight, true), x.size(1), {});
    if (context->needs_input_grad(1)) {
      dw = torch::empty_like(weight);
      db = torch::empty({weight.size(0)}, weight.options());
      kernels::winograd_weight_gradient(shape_of(x, weight.size(0)), x.data_ptr<float>(), dy.data_ptr<float>(),
                                        dw.data_ptr<float>(), db.data_ptr<float>());
    } else if (context->needs_input_grad(2)) {
      db = dy.sum({0, 2, 3});
    }
    return {dx, dw, db};
  }
};

bool plain_float(const Tensor& t) {
  return t.device().is_cpu() && t.scalar_type() == torch::kFloat32 && t.layout() == torch::kStrided;
}

bool gains(const Tensor& x, const Tensor& weight) {
  if (exact_convolution || !plain_float(x) || !plain_float(weight) || x.dim() != 4 || x.numel() == 0) return false;
  return x.size(2) >= 3 && x.size(3) >= 3 && x.size(1) >= 4 && weight.size(0) >= 4;
}

}  // namespace

Tensor conv3x3(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (!gains(x, weight)) return torch::conv2d(x, weight, bias, 1, 1);
  const Tensor input = x.contiguous(), w = weight.contiguous();
  const bool differentiate =
      torch::GradMode::is_enabled() && (x.requires_grad() || weight.requires_grad() || bias.requires_grad());
  if (differentiate) return WinogradFunction::apply(input, w, bias);
  static kernels::WeightCache cache;
  return convolve(input, cache.get(w, [](const Tensor& value) { return transformed(value, false); }), weight.size(0), bias);
}

ScopedExactConvolution::ScopedExactConvolution(bool exact) : before_(exact_convolution) { exact_convolution = exact; }
ScopedExactConvolution::~ScopedExactConvolution() { exact_convolution = before_; }

}  // namespace spnn
