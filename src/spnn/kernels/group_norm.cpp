#include <spnn/kernels/group_norm.h>

#include <spnn/core/errors.h>
#include <spnn/kernels/exact.h>
#include <spnn/kernels/group_norm_simd.h>
#include <spnn/kernels/parallel.h>

#include <torch/csrc/autograd/custom_function.h>

#include <cmath>

namespace spnn {
namespace {

using kernels::Group;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Layout {
  std::int64_t images, groups, channels, pixels;   // channels of a group
  std::int64_t group_floats() const { return channels * pixels; }
};

Layout layout_of(const Tensor& x, std::int64_t groups) {
  return {x.size(0), groups, x.size(1) / groups, x.numel() / (x.size(0) * x.size(1))};
}

// body(image, group) for all, a few small groups at a time.
template <class Body>
void each_group(const Layout& layout, const Body& body) {
  const std::int64_t count = layout.images * layout.groups;
  const std::int64_t grain = std::max<std::int64_t>(1, 8192 / layout.group_floats());
  kernels::parallel_each((count + grain - 1) / grain, [&](std::int64_t piece) {
    for (std::int64_t i = piece * grain; i < std::min(count, (piece + 1) * grain); ++i)
      body(i / layout.groups, i % layout.groups);
  });
}

Group make_group(const Layout& layout, std::int64_t g, const Tensor& weight, const Tensor& bias, bool silu) {
  return {layout.channels, layout.pixels, weight.data_ptr<float>() + g * layout.channels,
          bias.data_ptr<float>() + g * layout.channels, 0, 1, silu};
}

// y, and mean and 1/σ of every group in `moments` [images, groups, 2].
Tensor normalise(const Tensor& x, const Tensor& weight, const Tensor& bias, const GroupNormOptions& options,
                 float* moments) {
  const Layout layout = layout_of(x, options.groups);
  Tensor y = torch::empty_like(x);
  const float* from = x.data_ptr<float>();
  float* to = y.data_ptr<float>();
  each_group(layout, [&](std::int64_t image, std::int64_t g) {
    const std::int64_t i = image * layout.groups + g, at = i * layout.group_floats();
    const auto m = kernels::group_moments(from + at, layout.group_floats());
    Group group = make_group(layout, g, weight, bias, options.activation == Activation::silu);
    group.mean = static_cast<float>(m.mean);
    group.rstd = static_cast<float>(1 / std::sqrt(m.variance + options.eps));
    kernels::group_forward(group, from + at, to + at);
    if (moments != nullptr) {
      moments[2 * i] = group.mean;
      moments[2 * i + 1] = group.rstd;
    }
  });
  return y;
}

class GroupNormFunction : public torch::autograd::Function<GroupNormFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight, const Tensor& bias,
                        std::int64_t groups, double eps, bool silu) {
    Tensor moments = torch::empty({x.size(0), groups, 2}, x.options());
    context->save_for_backward({x, weight, bias, moments});
    context->saved_data["silu"] = silu;
    const GroupNormOptions options{groups, eps, silu ? Activation::silu : Activation::none};
    return normalise(x, weight, bias, options, moments.data_ptr<float>());
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor &x = saved[0], &weight = saved[1], &bias = saved[2], &moments = saved[3];
    const Tensor dy = gradients[0].contiguous();
    const Layout layout = layout_of(x, moments.size(1));
    const bool silu = context->saved_data["silu"].toBool();
    Tensor dx = torch::empty_like(x), parts = torch::empty({2, x.size(0), x.size(1)}, x.options());
    const float *px = x.data_ptr<float>(), *pdy = dy.data_ptr<float>(), *pm = moments.data_ptr<float>();
    float *pdx = dx.data_ptr<float>(), *dweight = parts.data_ptr<float>(), *dbias = dweight + x.size(0) * x.size(1);
    each_group(layout, [&](std::int64_t image, std::int64_t g) {
      const std::int64_t i = image * layout.groups + g, at = i * layout.group_floats();
      Group group = make_group(layout, g, weight, bias, silu);
      group.mean = pm[2 * i];
      group.rstd = pm[2 * i + 1];
      kernels::group_backward(group, px + at, pdy + at, pdx + at, dweight + i * layout.channels, dbias + i * layout.channels);
    });
    const Tensor sums = parts.sum(1);   // over images, in a fixed order
    return {dx, sums[0], sums[1], Tensor(), Tensor(), Tensor()};
  }
};

bool fast(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const auto plain = [](const Tensor& t) {
    return t.defined() && t.device().is_cpu() && t.scalar_type() == torch::kFloat32 && t.layout() == torch::kStrided;
  };
  return !exact_kernels() && plain(x) && plain(weight) && plain(bias) && x.numel() > 0;
}

}  // namespace

Tensor group_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, const GroupNormOptions& options) {
  require(x.dim() >= 2 && options.groups > 0 && x.size(1) % options.groups == 0, "group_norm",
          "channels that the groups divide",
          fmt::format("{} channels, {} groups", x.dim() < 2 ? 0 : x.size(1), options.groups));
  if (!fast(x, weight, bias)) {
    const Tensor y = torch::group_norm(x, options.groups, weight, bias, options.eps);
    return options.activation == Activation::silu ? torch::silu(y) : y;
  }
  const Tensor input = x.contiguous(), w = weight.contiguous(), b = bias.contiguous();
  const bool differentiate =
      torch::GradMode::is_enabled() && (x.requires_grad() || weight.requires_grad() || bias.requires_grad());
  if (!differentiate) return normalise(input, w, b, options, nullptr);
  return GroupNormFunction::apply(input, w, b, options.groups, options.eps, options.activation == Activation::silu);
}

Tensor group_norm_silu(const Tensor& x, std::int64_t groups, const Tensor& weight, const Tensor& bias, double eps) {
  return group_norm(x, weight, bias, {.groups = groups, .eps = eps, .activation = Activation::silu});
}

}  // namespace spnn
