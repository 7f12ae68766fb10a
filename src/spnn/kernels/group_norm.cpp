#include <spnn/kernels/group_norm.h>

#include <spnn/core/errors.h>
#include <spnn/core/shape.h>
#include <spnn/kernels/exact.h>
#include <spnn/kernels/group_norm_simd.h>
#include <spnn/kernels/parallel.h>

#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>

namespace spnn {
namespace {

using kernels::Group;
using kernels::Moments;
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

// Two samples as one (Chan).
Moments joined(const Moments& a, double a_count, const Moments& b, double b_count) {
  const double count = a_count + b_count, delta = b.mean - a.mean;
  return {a.mean + delta * b_count / count,
          (a.variance * a_count + b.variance * b_count + delta * delta * a_count * b_count / count) / count};
}

// The channels [first, last) of [x | more] that lie in one of the two tensors.
struct Piece {
  std::int64_t first, last;
  const float* from;
  std::int64_t channels() const { return last - first; }
};

Piece piece_of(const Tensor& t, std::int64_t image, std::int64_t before, std::int64_t first, std::int64_t last, std::int64_t pixels) {
  const std::int64_t c = t.defined() ? t.size(1) : 0;
  const std::int64_t a = std::clamp(first, before, before + c), b = std::clamp(last, before, before + c);
  return {a, b, b > a ? t.data_ptr<float>() + (image * c + a - before) * pixels : nullptr};
}

// y of [x | more] (`more` may be undefined), and mean and 1/σ of every group in `moments` [images, groups, 2].
Tensor normalise(const Tensor& x, const Tensor& more, const Tensor& weight, const Tensor& bias,
                 const GroupNormOptions& options, float* moments) {
  Layout layout = layout_of(x, options.groups);
  auto sizes = x.sizes().vec();
  if (more.defined()) sizes[1] += more.size(1);
  layout.channels = sizes[1] / options.groups;
  Tensor y = torch::empty(sizes, x.options());
  float* to = y.data_ptr<float>();
  each_group(layout, [&](std::int64_t image, std::int64_t g) {
    const std::int64_t first = g * layout.channels, last = first + layout.channels;
    const Piece pieces[] = {piece_of(x, image, 0, first, last, layout.pixels),
                            piece_of(more, image, x.size(1), first, last, layout.pixels)};
    Moments all{0, 0};
    double count = 0;
    for (const Piece& piece : pieces) {
      if (piece.channels() == 0) continue;
      const std::int64_t floats = piece.channels() * layout.pixels;
      const Moments m = kernels::group_moments(piece.from, floats);
      all = count == 0 ? m : joined(all, count, m, static_cast<double>(floats));
      count += static_cast<double>(floats);
    }
    const auto mean = static_cast<float>(all.mean), rstd = static_cast<float>(1 / std::sqrt(all.variance + options.eps));
    for (const Piece& piece : pieces) {
      if (piece.channels() == 0) continue;
      const Group group{piece.channels(), layout.pixels, weight.data_ptr<float>() + piece.first,
                        bias.data_ptr<float>() + piece.first, mean, rstd, options.activation == NormActivation::silu};
      kernels::group_forward(group, piece.from, to + (image * sizes[1] + piece.first) * layout.pixels);
    }
    if (moments != nullptr) {
      moments[2 * (image * layout.groups + g)] = mean;
      moments[2 * (image * layout.groups + g) + 1] = rstd;
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
    const GroupNormOptions options{groups, eps, silu ? NormActivation::silu : NormActivation::none};
    return normalise(x, {}, weight, bias, options, moments.data_ptr<float>());
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
      const std::int64_t first = g * layout.channels;
      const Group group{layout.channels, layout.pixels, weight.data_ptr<float>() + first, bias.data_ptr<float>() + first,
                        pm[2 * i], pm[2 * i + 1], silu};
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

bool needs_gradient(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  return torch::GradMode::is_enabled() && (x.requires_grad() || weight.requires_grad() || bias.requires_grad());
}

}  // namespace

Tensor group_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, const GroupNormOptions& options) {
  require(x.dim() >= 2 && options.groups > 0 && x.size(1) % options.groups == 0, "group_norm",
          "channels that the groups divide",
          fmt::format("{} channels, {} groups", x.dim() < 2 ? 0 : x.size(1), options.groups));
  if (!fast(x, weight, bias)) {
    const Tensor y = torch::group_norm(x, options.groups, weight, bias, options.eps);
    return options.activation == NormActivation::silu ? torch::silu(y) : y;
  }
  const Tensor input = x.contiguous(), w = weight.contiguous(), b = bias.contiguous();
  if (!needs_gradient(x, weight, bias)) return normalise(input, {}, w, b, options, nullptr);
  return GroupNormFunction::apply(input, w, b, options.groups, options.eps, options.activation == NormActivation::silu);
}

Tensor group_norm_joined(const Tensor& x, const Tensor& more, const Tensor& weight, const Tensor& bias,
                         const GroupNormOptions& options) {
  const bool plain = fast(x, weight, bias) && fast(more, weight, bias) && !needs_gradient(x, weight, bias) && !more.requires_grad();
  if (!plain) return group_norm(torch::cat({x, more}, 1), weight, bias, options);
  auto like_x = x.sizes().vec();
  like_x[1] = more.size(1);
  const std::int64_t channels = x.size(1) + more.size(1);
  require(more.sizes() == like_x, "group_norm_joined", fmt::format("maps {}", to_string(like_x)), to_string(more.sizes()));
  require(options.groups > 0 && channels % options.groups == 0, "group_norm_joined", "channels that the groups divide",
          fmt::format("{} channels, {} groups", channels, options.groups));
  return normalise(x.contiguous(), more.contiguous(), weight.contiguous(), bias.contiguous(), options, nullptr);
}

Tensor group_norm_silu(const Tensor& x, std::int64_t groups, const Tensor& weight, const Tensor& bias, double eps) {
  return group_norm(x, weight, bias, {.groups = groups, .eps = eps, .activation = NormActivation::silu});
}

}  // namespace spnn
