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

// Exchanges block b (of four floats) of v[4 g] with block g of v[4 b].
template <class Tag>
HWY_INLINE void transpose_blocks(Tag tag, hn::Vec<Tag>* v) {
  if constexpr (hn::MaxLanes(Tag()) == 8) {
    const auto a = v[0], b = v[4];
    v[0] = hn::ConcatLowerLower(tag, b, a);
    v[4] = hn::ConcatUpperUpper(tag, b, a);
  } else if constexpr (hn::MaxLanes(Tag()) == 16) {
    const auto even_ab = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(v[4]), v[0]);
    const auto odd_ab = hn::OddEvenBlocks(v[4], hn::SwapAdjacentBlocks(v[0]));
    const auto even_cd = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(v[12]), v[8]);
    const auto odd_cd = hn::OddEvenBlocks(v[12], hn::SwapAdjacentBlocks(v[8]));
    v[0] = hn::ConcatLowerLower(tag, even_cd, even_ab);
    v[4] = hn::ConcatLowerLower(tag, odd_cd, odd_ab);
    v[8] = hn::ConcatUpperUpper(tag, even_cd, even_ab);
    v[12] = hn::ConcatUpperUpper(tag, odd_cd, odd_ab);
  }
}

// kLanes pixels of kLanes planes ↔ kLanes vectors over channels; its own inverse. Planes whose size is a power of two share
// one cache set: touching whole lines, once, is worth the wider transpose.
HWY_INLINE void transpose_square(V* v) {
  for (std::int64_t g = 0; g < kLanes; g += 4) transpose_4x4(v + g);
  for (int j = 0; j < 4; ++j) transpose_blocks(D(), v + j);
}

}  // namespace spnn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
