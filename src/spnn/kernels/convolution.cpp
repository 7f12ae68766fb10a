#include <spnn/kernels/convolution.h>

#include <spnn/core/errors.h>
#include <spnn/core/shape.h>
#include <spnn/kernels/bfloat_convolution.h>
#include <spnn/kernels/exact.h>
#include <spnn/kernels/pointwise.h>
#include <spnn/kernels/weight_cache.h>
#include <spnn/kernels/winograd.h>

#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

namespace spnn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using OptionalTensor = torch::autograd::optional_variable_list::value_type;   // of c10 in libtorch 1.13, of std in 2.x

const float* pointer(const Tensor& t) { return t.defined() ? t.data_ptr<float>() : nullptr; }

Tensor empty_output(const Tensor& x, std::int64_t k) {
  return torch::empty({x.size(0), k, x.size(2), x.size(3)}, x.options());
}

// The kinds of convolution: how a weight is prepared and used, and its gradient.
struct Winograd {
  static Tensor prepare(const Tensor& weight, bool adjoint) {
    const std::int64_t k = weight.size(0), c = weight.size(1);
    Tensor u = torch::empty({adjoint ? kernels::winograd_weight_floats(c, k) : kernels::winograd_weight_floats(k, c)});
    kernels::winograd_weight(pointer(weight), k, c, adjoint, u.data_ptr<float>());
    return u;
  }
  static Tensor convolve(const Tensor& x, const Tensor& u, std::int64_t k, const Tensor& bias, const Tensor& residual) {
    Tensor y = empty_output(x, k);
    const std::int64_t stride = bias.defined() && bias.dim() == 2 ? k : 0;
    kernels::winograd_convolution({x.size(0), x.size(1), x.size(2), x.size(3), k}, {pointer(x)}, pointer(u),
                                  {pointer(bias), stride, pointer(residual)}, y.data_ptr<float>());
    return y;
  }
  // dw, and db for each image.
  static std::pair<Tensor, Tensor> weight_gradient(const Tensor& x, const Tensor& weight, const Tensor& dy) {
    const std::int64_t k = weight.size(0);
    Tensor dw = torch::empty_like(weight), db = torch::empty({x.size(0), k}, weight.options());
    kernels::winograd_weight_gradient({x.size(0), x.size(1), x.size(2), x.size(3), k}, pointer(x), pointer(dy),
                                      dw.data_ptr<float>(), db.data_ptr<float>());
    return {dw, db};
  }
};

struct Pointwise {
  static Tensor prepare(const Tensor& weight, bool adjoint) {
    const std::int64_t k = weight.size(0), c = weight.size(1);
    Tensor u = torch::empty({adjoint ? kernels::pointwise_weight_floats(c, k) : kernels::pointwise_weight_floats(k, c)});
    kernels::pack_pointwise(pointer(weight), k, c, adjoint, u.data_ptr<float>());
    return u;
  }
  static Tensor convolve(const Tensor& x, const Tensor& u, std::int64_t k, const Tensor& bias, const Tensor& residual) {
    Tensor y = empty_output(x, k);
    kernels::pointwise_convolution({{x.size(0), x.size(1), k, x.size(2) * x.size(3)}, {{pointer(x), x.size(1)}}, pointer(u),
                                    pointer(bias), pointer(residual), y.data_ptr<float>()});
    return y;
  }
  static std::pair<Tensor, Tensor> weight_gradient(const Tensor& x, const Tensor& weight, const Tensor& dy) {
    const std::int64_t k = weight.size(0);
    Tensor dw = torch::empty_like(weight), db = torch::empty({1, k}, weight.options());
    kernels::pointwise_weight_gradient({x.size(0), x.size(1), k, x.size(2) * x.size(3)}, pointer(x), pointer(dy),
                                       dw.data_ptr<float>(), db.data_ptr<float>());
    return {dw, db};
  }
};

// Products of bfloat16, only where gradients flow.
template <std::int64_t taps>
struct Bfloat {
  static Tensor prepare(const Tensor& weight, bool adjoint) {
    const std::int64_t k = weight.size(0), c = weight.size(1);
    Tensor u = torch::empty({adjoint ? kernels::bfloat_weight_floats(c, k, taps) : kernels::bfloat_weight_floats(k, c, taps)});
    kernels::pack_bfloat_weight(pointer(weight), k, c, taps, adjoint, u.data_ptr<float>());
    return u;
  }
  static Tensor convolve(const Tensor& x, const Tensor& u, std::int64_t k, const Tensor& bias, const Tensor& residual) {
    Tensor y = empty_output(x, k);
    const std::int64_t stride = bias.defined() && bias.dim() == 2 ? k : 0;
    kernels::bfloat_convolution({{x.size(0), x.size(1), x.size(2), x.size(3), k}, taps, pointer(x), pointer(u), pointer(bias), stride,
                                 pointer(residual), y.data_ptr<float>()});
    return y;
  }
  static std::pair<Tensor, Tensor> weight_gradient(const Tensor& x, const Tensor& weight, const Tensor& dy) {
    const std::int64_t k = weight.size(0);
    Tensor dw = torch::empty_like(weight), db = torch::empty({x.size(0), k}, weight.options());
    kernels::bfloat_weight_gradient({x.size(0), x.size(1), x.size(2), x.size(3), k}, taps, pointer(x), pointer(dy),
                                    dw.data_ptr<float>(), db.data_ptr<float>());
    return {dw, db};
  }
};

// Stride 2: all nine taps of a channel are input channels of a product.
struct Halved {
  static Tensor prepare(const Tensor& weight, bool) { return Pointwise::prepare(weight.flatten(1), false); }
};

template <class Kind>
class ConvolutionFunction : public torch::autograd::Function<ConvolutionFunction<Kind>> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const OptionalTensor& residual) {
    context->save_for_backward({x, weight});
    context->saved_data["bias_per_image"] = bias.dim() == 2;
    context->saved_data["residual"] = residual.has_value();
    return Kind::convolve(x, Kind::prepare(weight, false), weight.size(0), bias, residual.value_or(Tensor()));
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor &x = saved[0], &weight = saved[1];
    const Tensor dy = gradients[0].contiguous();
    const bool bias_per_image = context->saved_data["bias_per_image"].toBool();
    Tensor dx, dw, db;
    if (context->needs_input_grad(0)) dx = Kind::convolve(dy, Kind::prepare(weight, true), x.size(1), {}, {});
    if (context->needs_input_grad(1)) std::tie(dw, db) = Kind::weight_gradient(x, weight, dy);
    else if (context->needs_input_grad(2)) db = dy.sum({2, 3});
    if (db.defined() && !bias_per_image) db = db.size(0) == 1 ? db[0] : db.sum(0);
    return {dx, dw, db, context->saved_data["residual"].toBool() ? dy : Tensor()};
  }
};

bool plain_float(const Tensor& t) {
  return t.device().is_cpu() && t.scalar_type() == torch::kFloat32 && t.layout() == torch::kStrided;
}

bool can(const Tensor& x, const Tensor& weight) {
  return !exact_kernels() && plain_float(x) && plain_float(weight) && x.dim() == 4 && x.numel() > 0 &&
         x.size(1) == weight.size(1);
}

Tensor contiguous(const Tensor& t) { return t.defined() ? t.contiguous() : t; }

bool differentiate(std::initializer_list<Tensor> tensors) {
  return torch::GradMode::is_enabled() &&
         std::ranges::any_of(tensors, [](const Tensor& t) { return t.defined() && t.requires_grad(); });
}

// Of a contiguous weight, and kept.
template <class Kind>
Tensor prepared(const Tensor& weight) {
  static kernels::WeightCache cache;
  return cache.get(weight, [](const Tensor& value) { return Kind::prepare(value, false); });
}

template <class Kind, class Reduced>
Tensor apply(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& residual) {
  const Tensor input = x.contiguous(), w = weight.contiguous(), b = bias.contiguous(), r = contiguous(residual);
  if (differentiate({x, weight, bias, residual})) {
    const auto added = r.defined() ? OptionalTensor(r) : OptionalTensor();
    return bfloat_products() ? ConvolutionFunction<Reduced>::apply(input, w, b, added)
                             : ConvolutionFunction<Kind>::apply(input, w, b, added);
  }
  return Kind::convolve(input, prepared<Kind>(w), weight.size(0), b, r);
}

Tensor by_torch(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& residual, std::int64_t padding) {
  Tensor y = bias.dim() == 2 ? torch::conv2d(x, weight, {}, 1, padding) + bias.unsqueeze(-1).unsqueeze(-1)
                             : torch::conv2d(x, weight, bias, 1, padding);
  return residual.defined() ? y + residual : y;
}

// The kernels read raw memory: whatever they are told to add must have the shape that they will read.
void require_bias(const Tensor& x, const Tensor& weight, const Tensor& bias, bool may_be_per_image, std::string_view where) {
  const std::vector<std::int64_t> each_channel{weight.size(0)}, each_image{x.size(0), weight.size(0)};
  require(bias.defined() && (bias.sizes() == each_channel || (may_be_per_image && bias.sizes() == each_image)), where,
          may_be_per_image ? fmt::format("a bias {} or {}", to_string(each_channel), to_string(each_image))
                           : fmt::format("a bias {}", to_string(each_channel)),
          bias.defined() ? to_string(bias.sizes()) : "none");
}

void require_residual(const Tensor& x, const Tensor& weight, const Tensor& residual, std::string_view where) {
  if (!residual.defined()) return;
  const std::vector<std::int64_t> expected{x.size(0), weight.size(0), x.size(2), x.size(3)};
  require(residual.sizes() == expected, where, fmt::format("a residual {}", to_string(expected)), to_string(residual.sizes()));
}

}  // namespace

Tensor conv3x3(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& residual) {
  require_bias(x, weight, bias, /*may_be_per_image=*/true, "conv3x3");
  require_residual(x, weight, residual, "conv3x3");
  if (!can(x, weight) || x.size(2) == 1 || x.size(3) == 1) return by_torch(x, weight, bias, residual, 1);
  return apply<Winograd, Bfloat<9>>(x, weight, bias, residual);
}

Tensor conv1x1(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& residual) {
  require_bias(x, weight, bias, /*may_be_per_image=*/false, "conv1x1");
  require_residual(x, weight, residual, "conv1x1");
  if (!can(x, weight)) return by_torch(x, weight, bias, residual, 0);
  // The kernel's vectors run along the pixels of an image. Maps smaller than one of them are laid side by side.
  constexpr std::int64_t small = 16;
  const auto n = x.size(0), pixels = x.size(2) * x.size(3);
  if (n > 1 && pixels < small) {
    const auto side_by_side = [](const Tensor& t) { return t.defined() ? t.transpose(0, 1).reshape({1, t.size(1), -1, 1}) : t; };
    const auto y = conv1x1(side_by_side(x), weight, bias, side_by_side(residual));
    return y.view({weight.size(0), n, x.size(2), x.size(3)}).transpose(0, 1).contiguous();
  }
  return apply<Pointwise, Bfloat<1>>(x, weight, bias, residual);
}

Tensor conv3x3_doubled(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const std::int64_t h = 2 * x.size(2), w = 2 * x.size(3), k = weight.size(0);
  if (!can(x, weight) || differentiate({x, weight, bias})) return conv3x3(torch::upsample_nearest2d(x, {h, w}), weight, bias);
  require_bias(x, weight, bias, /*may_be_per_image=*/false, "conv3x3_doubled");
  const Tensor input = x.contiguous(), u = prepared<Winograd>(weight.contiguous()), b = bias.contiguous();
  Tensor y = torch::empty({x.size(0), k, h, w}, x.options());
  kernels::winograd_convolution({x.size(0), x.size(1), h, w, k}, {pointer(input), /*doubled=*/true}, pointer(u), {pointer(b)},
                                y.data_ptr<float>());
  return y;
}

Tensor conv3x3_halved(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  require_bias(x, weight, bias, /*may_be_per_image=*/false, "conv3x3_halved");
  // Cells of 2×2 pixels as channels: a 3×3 convolution with stride 1, a weight of which three quarters are zeros, and a fast kernel.
  if (bfloat_products() && can(x, weight) && x.size(2) % 2 == 0 && x.size(3) % 2 == 0 && differentiate({x, weight, bias}))
    return conv3x3(torch::pixel_unshuffle(x, 2), torch::pixel_unshuffle(torch::constant_pad_nd(weight, {2, 1, 2, 1}), 2), bias);
  if (!can(x, weight) || x.size(2) < 2 || x.size(3) < 2 || differentiate({x, weight, bias}))
    return torch::conv2d(torch::constant_pad_nd(x, {0, 1, 0, 1}), weight, bias, 2);
  const kernels::Planes map{x.size(1), x.size(2), x.size(3)};
  const std::int64_t h = map.h / 2, w = map.w / 2, k = weight.size(0);
  const Tensor input = x.contiguous(), u = prepared<Halved>(weight.contiguous()), b = bias.contiguous();
  Tensor y = torch::empty({x.size(0), k, h, w}, x.options());
  kernels::halved_convolution({{x.size(0), 9 * map.c, k, h * w}, {{pointer(input), map.c}}, pointer(u), pointer(b), nullptr,
                               y.data_ptr<float>()}, map);
  return y;
}

Tensor conv1x1_joined(const Tensor& x, const Tensor& more, const Tensor& weight, const Tensor& bias) {
  const std::int64_t c = x.size(1), d = more.size(1), k = weight.size(0), pixels = x.size(2) * x.size(3);
  if (exact_kernels() || !plain_float(x) || !plain_float(more) || !plain_float(weight) || x.numel() == 0 ||
      differentiate({x, more, weight, bias}))
    return conv1x1(torch::cat({x, more}, 1), weight, bias);
  const std::vector<std::int64_t> like_x{x.size(0), d, x.size(2), x.size(3)};
  require(more.sizes() == like_x, "conv1x1_joined", fmt::format("maps {}", to_string(like_x)), to_string(more.sizes()));
  require(weight.size(1) == c + d, "conv1x1_joined", fmt::format("a weight of {} channels", c + d), to_string(weight.sizes()));
  require_bias(x, weight, bias, /*may_be_per_image=*/false, "conv1x1_joined");
  const Tensor left = x.contiguous(), right = more.contiguous(), u = prepared<Pointwise>(weight.contiguous()), b = bias.contiguous();
  Tensor y = empty_output(x, k);
  kernels::pointwise_convolution({{x.size(0), c + d, k, pixels}, {{pointer(left), c}, {pointer(right), d}}, pointer(u), pointer(b),
                                  nullptr, y.data_ptr<float>()});
  return y;
}

}  // namespace spnn
