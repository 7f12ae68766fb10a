#pragma once

#include <spnn/blocks/block.h>

namespace spnn {

struct LappedUnshuffleConfig {
  Shape in;
  std::int64_t factor = 2;   // of both sides; even
  bool colour = false;       // three channels of an image: grey and two differences of colour first
};

// Space to depth without a grid. PixelUnshuffle cuts the image into cells that know nothing of each other, so that whatever is changed in
// one ends at its border. Here an orthogonal matrix mixes the half cells on both sides of every border first (nothing at the image's edge,
// nothing around it), and each cell is then taken apart by frequency: a lapped transform in its time-domain form. Every output belongs to a
// window of 2·factor × 2·factor pixels that fades out within its neighbours.
//   factor 4 and more  the mirrored differences across a border are turned against each other by π/8 (next to Malvar's best coding gain)
//   factor 2           Daubechies' four-tap wavelet, with the ends of its own at the edge
// A constant image has its first output alone in every cell. Outputs are ordered from low frequencies to high, over all channels, so that a
// surjection that keeps the first ones keeps what is smooth. The transform is orthogonal, hence its transpose is the inverse; its lowest
// frequency of each line is then divided by √factor, so that the first output is a mean and stays in the range of the image through any
// number of levels, as labels want it. No weights.
class LappedUnshuffle final : public Block {
 public:
  explicit LappedUnshuffle(const LappedUnshuffleConfig& config);

  Completion complete(const Tensor& x) const override;
  Tensor invert(const Completion& yz) const override { return pinv(yz.y); }
  Tensor pinv(const Tensor& y) const override;

 private:
  LappedUnshuffleConfig config_;
  Tensor rows_, columns_;             // [H, H] and [W, W] in double: line to its windows' frequencies
  Tensor rows_back_, columns_back_;   // and back
  Tensor colours_;            // [3, 3], or undefined
  Tensor order_, original_;   // permutations of the output channels, one the inverse of the other
};

// The transform of one line of `length` values with cells of `factor`: an orthogonal [length, length] matrix in double.
Tensor lapped_matrix(std::int64_t length, std::int64_t factor);

}  // namespace spnn
