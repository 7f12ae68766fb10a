#pragma once

#include <spnn/blocks/block.h>

namespace spnn {

struct PixelUnshuffleConfig {
  Shape in;
  std::int64_t factor_h = 2;
  std::int64_t factor_w = 2;
};

// Space to depth: C×H×W → C·fh·fw × H/fh × W/fw, channel c·fh·fw + i·fw + j from pixel (i, j) of each cell, as
// torch's pixel_unshuffle orders them; the factors may differ. A permutation, hence its own pseudo-inverse.
class PixelUnshuffle final : public Block {
 public:
  explicit PixelUnshuffle(const PixelUnshuffleConfig& config);

  Completion complete(const Tensor& x) const override;
  Tensor invert(const Completion& yz) const override;
  Tensor pinv(const Tensor& y) const override;

 private:
  PixelUnshuffleConfig config_;
};

}  // namespace spnn
