// The vector type of the kernels, and the exchange of channels and pixels between planes and vectors.
// Included once per instruction set.
#if defined(SPNN_VECTORS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SPNN_VECTORS_INL_H
#undef SPNN_VECTORS_INL_H
#else
#define SPNN_VECTORS_INL_H
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace spnn::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr std::int64_t kLanes = hn::MaxLanes(D());

// Vector b·4 … b·4+3 of the result are four pixels of channel b·4 (p points to channel 0 of the four, planes are
// `stride` apart).
template <class Tag>
HWY_INLINE hn::Vec<Tag> load_blocks(Tag tag, const float* p, std::int64_t stride) {
  if constexpr (hn::MaxLanes(Tag()) == 4) {
    return hn::LoadU(tag, p);
  } else {
    const hn::Half<Tag> half;
    return hn::Combine(tag, load_blocks(half, p + hn::MaxLanes(Tag()) / 2 * stride, stride), load_blocks(half, p, stride));
  }
}

template <class Tag>
HWY_INLINE void store_blocks(Tag tag, hn::Vec<Tag> v, float* p, std::int64_t stride) {
  if constexpr (hn::MaxLanes(Tag()) == 4) {
    hn::StoreU(v, tag, p);
  } else {
    const hn::Half<Tag> half;
    store_blocks(half, hn::LowerHalf(half, v), p, stride);
    store_blocks(half, hn::UpperHalf(half, v), p + hn::MaxLanes(Tag()) / 2 * stride, stride);
  }
}

// Transposes every 4×4 block of four vectors; its own inverse.
HWY_INLINE void transpose_4x4(V* v) {
  const D tag;
  const hn::RepartitionToWide<hn::RebindToUnsigned<D>> wide;
  const auto a = hn::BitCast(wide, hn::InterleaveLower(tag, v[0], v[1]));
  const auto b = hn::BitCast(wide, hn::InterleaveUpper(tag, v[0], v[1]));
  const auto c = hn::BitCast(wide, hn::InterleaveLower(tag, v[2], v[3]));
  const auto d = hn::BitCast(wide, hn::InterleaveUpper(tag, v[2], v[3]));
  v[0] = hn::BitCast(tag, hn::InterleaveLower(wide, a, c));
  v[1] = hn::BitCast(tag, hn::InterleaveUpper(wide, a, c));
  v[2] = hn::BitCast(tag, hn::InterleaveLower(wide, b, d));
  v[3] = hn::BitCast(tag, hn::InterleaveUpper(wide, b, d));
}

// Four neighbouring pixels of kLanes planes ↔ four vectors over channels.
HWY_INLINE void load_pixels(const float* p, std::int64_t plane, V* v) {
  for (int j = 0; j < 4; ++j) v[j] = load_blocks(D(), p + j * plane, plane);
  transpose_4x4(v);
}

HWY_INLINE void store_pixels(V* v, const float* residual, float* p, std::int64_t plane) {   // residual may be null
  transpose_4x4(v);
  if (residual != nullptr)
    for (int j = 0; j < 4; ++j) v[j] = hn::Add(v[j], load_blocks(D(), residual + j * plane, plane));
  for (int j = 0; j < 4; ++j) store_blocks(D(), v[j], p + j * plane, plane);
}

}  // namespace spnn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
