#pragma once

#include <spnn/blocks/block.h>

#include <mutex>

namespace spnn {

struct LineMapConfig {
  enum class Axis { rows, columns };
  Shape in;
  Axis axis = Axis::rows;
  bool colours = true;        // a matrix for every line of every channel; false: the channels share theirs
  double gain_bound = 2.0;    // b: singular values lie within exp(±b)
};

// A matrix of its own for every row, or every column, of the picture: W x + shift with W = U diag(exp(b·tanh(a))) Vᵀ. What it can do
// that convolutions over cells cannot is to move pixels, each line's by another amount that changes along it: rows, then columns, are a
// warp. Lines that are squeezed lose nothing: what no longer fits goes where the picture left room, times a gain of exp(−b) at least, and
// comes back from there. Blur and gain that depend on the place are matrices as well. The way back is V diag(exp(−b·tanh(a))) Uᵀ: no
// solve, and no magnification beyond exp(b).
// a and shift are weights. U and V are set, not trained, and stored rounded: a few Newton–Schulz steps in double make them orthogonal to
// the precision of whatever type the block computes in. A new block is the identity.
class LineMap final : public Block {
 public:
  using Axis = LineMapConfig::Axis;
  explicit LineMap(const LineMapConfig& config);

  Completion complete(const Tensor& x) const override;
  Tensor invert(const Completion& yz) const override { return pinv(yz.y); }
  Tensor pinv(const Tensor& y) const override;

  // Takes these matrices, [sets, lines, n, n] with a set a channel or one for all, their singular values kept from `least` up (and within
  // the bound); the shift becomes zero. requires 0 < least.
  void set(const Tensor& W, double least);

  // The best matrices and shift for these pairs, [B, C, H, W]: W = argmin E‖to − W from‖² + ridge·‖W − near‖² around the means, then as
  // in set. Where pictures say nothing of W (high frequencies, which they hardly have), W is `near`.
  void start_at(const Tensor& from, const Tensor& to, const Tensor& near, double ridge, double least);

  std::int64_t sets() const { return gains_.size(0); }
  std::int64_t lines() const { return gains_.size(1); }
  std::int64_t length() const { return gains_.size(2); }

 private:
  struct Orthogonal {
    Tensor U, V;              // [sets · lines, n, n]
  };
  Orthogonal exact() const;
  Tensor log_gain() const;    // [sets · lines, n, 1]
  Tensor by_line(const Tensor& x) const;                              // [B, C, H, W] → [sets · lines, n, …]
  Tensor by_picture(const Tensor& lines, std::int64_t batch) const;   // and back

  LineMapConfig config_;
  Tensor U_, V_;              // buffers, [sets, lines, n, n]
  Tensor gains_;              // a, [sets, lines, n]
  Tensor shift_;              // [C, H, W]
  mutable std::mutex mutex_;
  mutable Orthogonal exact_;  // of the buffers described by the next
  mutable std::pair<const void*, std::int64_t> exact_of_{nullptr, -1};
};

}  // namespace spnn
