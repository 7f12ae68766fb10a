#pragma once

#include <spnn/blocks/block.h>
#include <spnn/core/rng.h>

namespace spnn {

// What a layer makes of x, and what that adds to the log-likelihood.
struct Observed {
  Completion yz;
  Tensor log_p;   // [B]
};

// A block that knows its share of log p(x). With p(y) the density of what follows,
//   bijection      log p(x) = log p(y) + log|det ∂y/∂x|
//   surjection     log p(x) = log p(y) + log p(x | y), x drawn from y by a standardised z: x = invert([y | z])
// so a chain of layers adds up its log_p, whatever its members are. z is what noise replaces when the chain is sampled.
//   ensures  invert(complete(x)) = x; pinv(y) = invert([y | 0]), the most likely pre-image.
class FlowLayer : public Block {
 public:
  using Block::Block;

  virtual Observed observe(const Tensor& x) const = 0;
  Completion complete(const Tensor& x) const override { return observe(x).yz; }
  Tensor pinv(const Tensor& y) const override;

  virtual Shape z_shape() const { return {0, 0, 0}; }   // of one image, for layers that discard

  // z for `count` images, image i depending on (rng, first + i) only; `temperature` scales the deviation.
  struct Draw {
    Rng rng{0};
    std::int64_t count = 1;
    std::uint64_t first = 0;
    double temperature = 1;
  };
  virtual Tensor draw_z(const Draw& draw, torch::TensorOptions options) const;

  // Initial values that depend on data (act norm). x is a batch as the layer meets it; the others do nothing.
  virtual void start_from_data(const Tensor& /*x*/) {}
};

// Σ over all but the batch.
Tensor sum_per_image(const Tensor& x);

// log N(z; 0, 1), summed per image.
Tensor standard_normal_log_p(const Tensor& z);

// A number for every image of the batch of x.
Tensor per_image(const Tensor& value, const Tensor& x);

}  // namespace spnn
