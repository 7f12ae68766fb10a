// The one-dimensional transforms of Winograd's F(4, 3) at the points 0, ±1, ±2, ∞ (Lavin and Gray 2016).
// Included once per instruction set.
#if defined(SPNN_WINOGRAD_TRANSFORMS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SPNN_WINOGRAD_TRANSFORMS_INL_H
#undef SPNN_WINOGRAD_TRANSFORMS_INL_H
#else
#define SPNN_WINOGRAD_TRANSFORMS_INL_H
#endif

#include <hwy/highway.h>
#include <spnn/kernels/vectors-inl.h>

HWY_BEFORE_NAMESPACE();
namespace spnn::kernels::HWY_NAMESPACE {

HWY_INLINE void input_1d(const V* d, V* o) {   // Bᵀ, 6 → 6
  const D tag;
  const V two = hn::Set(tag, 2.0f), four = hn::Set(tag, 4.0f), five = hn::Set(tag, 5.0f);
  const V even4 = hn::NegMulAdd(four, d[2], d[4]), odd4 = hn::NegMulAdd(four, d[1], d[3]);
  const V even1 = hn::Sub(d[4], d[2]), odd1 = hn::Mul(two, hn::Sub(d[3], d[1]));
  o[0] = hn::MulAdd(four, d[0], hn::NegMulAdd(five, d[2], d[4]));
  o[1] = hn::Add(even4, odd4);
  o[2] = hn::Sub(even4, odd4);
  o[3] = hn::Add(even1, odd1);
  o[4] = hn::Sub(even1, odd1);
  o[5] = hn::MulAdd(four, d[1], hn::NegMulAdd(five, d[3], d[5]));
}

HWY_INLINE void output_1d(const V* m, V* o) {   // Aᵀ, 6 → 4
  const D tag;
  const V s1 = hn::Add(m[1], m[2]), d1 = hn::Sub(m[1], m[2]), s2 = hn::Add(m[3], m[4]), d2 = hn::Sub(m[3], m[4]);
  o[0] = hn::Add(m[0], hn::Add(s1, s2));
  o[1] = hn::MulAdd(hn::Set(tag, 2.0f), d2, d1);
  o[2] = hn::MulAdd(hn::Set(tag, 4.0f), s2, s1);
  o[3] = hn::MulAdd(hn::Set(tag, 8.0f), d2, hn::Add(d1, m[5]));
}

HWY_INLINE void output_adjoint_1d(const V* y, V* o) {   // A, 4 → 6
  const D tag;
  const V four = hn::Set(tag, 4.0f);
  const V even1 = hn::Add(y[0], y[2]), odd1 = hn::Add(y[1], y[3]);
  const V even2 = hn::MulAdd(four, y[2], y[0]), odd2 = hn::Mul(hn::Set(tag, 2.0f), hn::MulAdd(four, y[3], y[1]));
  o[0] = y[0];
  o[1] = hn::Add(even1, odd1);
  o[2] = hn::Sub(even1, odd1);
  o[3] = hn::Add(even2, odd2);
  o[4] = hn::Sub(even2, odd2);
  o[5] = y[3];
}

HWY_INLINE void weight_1d(const V* g, V* o) {   // G, 3 → 6
  const D tag;
  const V sixth = hn::Set(tag, -1.0f / 6), small = hn::Set(tag, 1.0f / 24);
  const V even1 = hn::Mul(sixth, hn::Add(g[0], g[2])), odd1 = hn::Mul(sixth, g[1]);
  const V even2 = hn::Mul(small, hn::MulAdd(hn::Set(tag, 4.0f), g[2], g[0]));
  const V odd2 = hn::Mul(hn::Set(tag, 1.0f / 12), g[1]);
  o[0] = hn::Mul(hn::Set(tag, 0.25f), g[0]);
  o[1] = hn::Add(even1, odd1);
  o[2] = hn::Sub(even1, odd1);
  o[3] = hn::Add(even2, odd2);
  o[4] = hn::Sub(even2, odd2);
  o[5] = g[2];
}

HWY_INLINE void weight_adjoint_1d(const V* u, V* o) {   // Gᵀ, 6 → 3
  const D tag;
  const V sixth = hn::Set(tag, 1.0f / 6);
  const V s1 = hn::Mul(sixth, hn::Add(u[1], u[2])), d1 = hn::Mul(sixth, hn::Sub(u[1], u[2]));
  const V s2 = hn::Add(u[3], u[4]), d2 = hn::Sub(u[3], u[4]);
  o[0] = hn::MulAdd(hn::Set(tag, 0.25f), u[0], hn::MulAdd(hn::Set(tag, 1.0f / 24), s2, hn::Neg(s1)));
  o[1] = hn::MulSub(hn::Set(tag, 1.0f / 12), d2, d1);
  o[2] = hn::Add(hn::MulSub(sixth, s2, s1), u[5]);
}

}  // namespace spnn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
