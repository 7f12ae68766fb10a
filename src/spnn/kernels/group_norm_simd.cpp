#include <spnn/kernels/group_norm_simd.h>

#include <algorithm>

#include <spnn/kernels/simd_targets.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "spnn/kernels/group_norm_simd.cpp"
#include <hwy/foreach_target.h>
// The order matters: foreach_target.h first.
#include <hwy/highway.h>
#include <spnn/kernels/vectors-inl.h>

HWY_BEFORE_NAMESPACE();
namespace spnn::kernels::HWY_NAMESPACE {

// The last, incomplete vector of a plane, zeros beyond its end.
HWY_INLINE V load_some(const float* p, std::int64_t count) {
  HWY_ALIGN float buffer[kLanes] = {};
  std::copy_n(p, count, buffer);
  return hn::Load(D(), buffer);
}
HWY_INLINE void store_some(V v, float* p, std::int64_t count) {
  HWY_ALIGN float buffer[kLanes];
  hn::Store(v, D(), buffer);
  std::copy_n(buffer, count, p);
}

HWY_INLINE double total(V v) { return static_cast<double>(hn::GetLane(hn::SumOfLanes(D(), v))); }

// 2^z for |z| ≤ 126 to about an ulp: the Taylor polynomial of 2^f, |f| ≤ ½, and the rest into the exponent. A library's
// exp also serves what a sigmoid never asks for, and takes twice as long.
HWY_INLINE V power_of_two(V z) {
  const D tag;
  const hn::RebindToSigned<D> itag;
  const V whole = hn::Round(z), f = hn::Sub(z, whole);
  constexpr float taylor[] = {1.5252734e-5f, 1.5403530e-4f, 1.3333558e-3f, 9.6181291e-3f, 5.5504109e-2f, 2.4022651e-1f,
                              6.9314718e-1f, 1.0f};
  V p = hn::Set(tag, taylor[0]);
  for (int i = 1; i < 8; ++i) p = hn::MulAdd(p, f, hn::Set(tag, taylor[i]));
  const auto exponent = hn::ShiftLeft<23>(hn::ConvertTo(itag, whole));
  return hn::BitCast(tag, hn::Add(hn::BitCast(itag, p), exponent));
}

HWY_INLINE V sigmoid(V v) {
  const D tag;
  const V one = hn::Set(tag, 1.0f), limit = hn::Set(tag, 126.0f);   // beyond, the sigmoid is 0 or 1 anyway
  const V z = hn::Max(hn::Min(hn::Mul(v, hn::Set(tag, -1.44269504f)), limit), hn::Neg(limit));
  return hn::Div(one, hn::Add(one, power_of_two(z)));
}

// Two passes over a piece that fits into the L1 cache: exact where Σx² − (Σx)² would cancel.
HWY_INLINE Moments piece_moments(const float* x, std::int64_t count) {
  const D tag;
  const std::int64_t whole = count / (4 * kLanes) * (4 * kLanes);
  V sum[4] = {hn::Zero(tag), hn::Zero(tag), hn::Zero(tag), hn::Zero(tag)};
  for (std::int64_t i = 0; i < whole; i += 4 * kLanes)
    for (int j = 0; j < 4; ++j) sum[j] = hn::Add(sum[j], hn::LoadU(tag, x + i + j * kLanes));
  for (std::int64_t i = whole; i < count; i += kLanes)
    sum[0] = hn::Add(sum[0], load_some(x + i, std::min(kLanes, count - i)));
  const double mean = total(hn::Add(hn::Add(sum[0], sum[1]), hn::Add(sum[2], sum[3]))) / static_cast<double>(count);
  const V centre = hn::Set(tag, static_cast<float>(mean));
  V square[4] = {hn::Zero(tag), hn::Zero(tag), hn::Zero(tag), hn::Zero(tag)};
  for (std::int64_t i = 0; i < whole; i += 4 * kLanes)
    for (int j = 0; j < 4; ++j) {
      const V d = hn::Sub(hn::LoadU(tag, x + i + j * kLanes), centre);
      square[j] = hn::MulAdd(d, d, square[j]);
    }
  for (std::int64_t i = whole; i < count; i += kLanes) {
    const std::int64_t some = std::min(kLanes, count - i);
    const V d = hn::IfThenElseZero(hn::FirstN(tag, static_cast<std::size_t>(some)), hn::Sub(load_some(x + i, some), centre));
    square[0] = hn::MulAdd(d, d, square[0]);
  }
  const double squares = total(hn::Add(hn::Add(square[0], square[1]), hn::Add(square[2], square[3])));
  return {mean, squares / static_cast<double>(count)};
}

// Pieces are joined by Chan's update, in double: one read of memory.
Moments group_moments(const float* x, std::int64_t count) {
  constexpr std::int64_t piece = 4096;
  double mean = 0, squares = 0;
  for (std::int64_t i = 0; i < count; i += piece) {
    const std::int64_t n = std::min(piece, count - i);
    const Moments m = piece_moments(x + i, n);
    const double before = static_cast<double>(i), now = static_cast<double>(n), delta = m.mean - mean;
    mean += delta * now / (before + now);
    squares += m.variance * now + delta * delta * before * now / (before + now);
  }
  return {mean, squares / static_cast<double>(count)};
}

template <bool Silu>
HWY_INLINE V activate(V v) {
  if constexpr (Silu) return hn::Mul(v, sigmoid(v));
  else return v;
}

template <bool Silu>
HWY_INLINE void plane_forward(const float* x, std::int64_t pixels, float scale, float shift, float* y) {
  const D tag;
  const V a = hn::Set(tag, scale), b = hn::Set(tag, shift);
  std::int64_t i = 0;
  for (; i + kLanes <= pixels; i += kLanes)
    hn::StoreU(activate<Silu>(hn::MulAdd(a, hn::LoadU(tag, x + i), b)), tag, y + i);
  if (i < pixels) store_some(activate<Silu>(hn::MulAdd(a, load_some(x + i, pixels - i), b)), y + i, pixels - i);
}

void group_forward(const Group& group, const float* x, float* y) {
  for (std::int64_t c = 0; c < group.channels; ++c, x += group.pixels, y += group.pixels) {
    const float scale = group.weight[c] * group.rstd, shift = group.bias[c] - group.mean * scale;
    if (group.silu) plane_forward<true>(x, group.pixels, scale, shift, y);
    else plane_forward<false>(x, group.pixels, scale, shift, y);
  }
}

// The gradient at the activation's input, v = scale·x + shift.
template <bool Silu>
HWY_INLINE V activation_gradient(V x, V dy, V scale, V shift) {
  if constexpr (!Silu) return dy;
  const V one = hn::Set(D(), 1.0f);
  const V v = hn::MulAdd(scale, x, shift), s = sigmoid(v);
  return hn::Mul(hn::Mul(dy, s), hn::MulAdd(v, hn::Sub(one, s), one));
}

struct Sums {
  double dv, dv_x;   // Σ dv, Σ dv·(x − mean)
};

template <bool Silu>
HWY_INLINE Sums plane_gradient(const Group& group, std::int64_t c, const float* x, const float* dy, float* dv) {
  const D tag;
  const float a = group.weight[c] * group.rstd;
  const V scale = hn::Set(tag, a), shift = hn::Set(tag, group.bias[c] - group.mean * a), mean = hn::Set(tag, group.mean);
  V sum = hn::Zero(tag), sum_x = hn::Zero(tag);
  std::int64_t i = 0;
  for (; i + kLanes <= group.pixels; i += kLanes) {
    const V xi = hn::LoadU(tag, x + i), g = activation_gradient<Silu>(xi, hn::LoadU(tag, dy + i), scale, shift);
    hn::StoreU(g, tag, dv + i);
    sum = hn::Add(sum, g);
    sum_x = hn::MulAdd(g, hn::Sub(xi, mean), sum_x);
  }
  if (i < group.pixels) {   // dy is 0 beyond the end, and so is its share of the sums
    const std::int64_t some = group.pixels - i;
    const V xi = load_some(x + i, some), g = activation_gradient<Silu>(xi, load_some(dy + i, some), scale, shift);
    store_some(g, dv + i, some);
    sum = hn::Add(sum, g);
    sum_x = hn::MulAdd(g, hn::Sub(xi, mean), sum_x);
  }
  return {total(sum), total(sum_x)};
}

// dx = rstd·(weight·dv − mean(weight·dv) − x̂·mean(weight·dv·x̂)); dv waits in dx while the means are summed.
void group_backward(const Group& group, const float* x, const float* dy, float* dx, float* dweight, float* dbias) {
  const D tag;
  double sum = 0, sum_x = 0;
  for (std::int64_t c = 0; c < group.channels; ++c) {
    const std::int64_t at = c * group.pixels;
    const Sums s = group.silu ? plane_gradient<true>(group, c, x + at, dy + at, dx + at)
                              : plane_gradient<false>(group, c, x + at, dy + at, dx + at);
    dbias[c] = static_cast<float>(s.dv);
    dweight[c] = static_cast<float>(s.dv_x * static_cast<double>(group.rstd));
    sum += s.dv * static_cast<double>(group.weight[c]);
    sum_x += s.dv_x * static_cast<double>(group.weight[c]);
  }
  const double rstd = static_cast<double>(group.rstd), count = static_cast<double>(group.channels * group.pixels);
  const V mean = hn::Set(tag, group.mean), slope = hn::Set(tag, static_cast<float>(-rstd * rstd * rstd * sum_x / count));
  const V offset = hn::Set(tag, static_cast<float>(-rstd * sum / count));
  for (std::int64_t c = 0; c < group.channels; ++c, x += group.pixels, dx += group.pixels) {
    const V scale = hn::Set(tag, group.weight[c] * group.rstd);
    std::int64_t i = 0;
    for (; i + kLanes <= group.pixels; i += kLanes) {
      const V centred = hn::Sub(hn::LoadU(tag, x + i), mean);
      hn::StoreU(hn::MulAdd(scale, hn::LoadU(tag, dx + i), hn::MulAdd(slope, centred, offset)), tag, dx + i);
    }
    if (i < group.pixels) {
      const std::int64_t some = group.pixels - i;
      const V centred = hn::Sub(load_some(x + i, some), mean);
      store_some(hn::MulAdd(scale, load_some(dx + i, some), hn::MulAdd(slope, centred, offset)), dx + i, some);
    }
  }
}

}  // namespace spnn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace spnn::kernels {

HWY_EXPORT(group_moments);
HWY_EXPORT(group_forward);
HWY_EXPORT(group_backward);

Moments group_moments(const float* x, std::int64_t count) { return HWY_DYNAMIC_DISPATCH(group_moments)(x, count); }
void group_forward(const Group& group, const float* x, float* y) { HWY_DYNAMIC_DISPATCH(group_forward)(group, x, y); }
void group_backward(const Group& group, const float* x, const float* dy, float* dx, float* dweight, float* dbias) {
  HWY_DYNAMIC_DISPATCH(group_backward)(group, x, dy, dx, dweight, dbias);
}

}  // namespace spnn::kernels
#endif
