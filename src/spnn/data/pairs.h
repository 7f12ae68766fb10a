#pragma once

#include <spnn/core/shape.h>
#include <spnn/data/dataset.h>

namespace spnn {

// Clean pictures and what some program made of them, [N, C, H, W] uint8, in the same order.
struct Pairs {
  Dataset clean;
  Tensor degraded;
};

struct SplitPairs {
  Pairs train, val;
};

// Two folders with files of the same names (endings may differ). Every tenth pair is held out.
//   ensures: every clean picture has its degraded one and both are of `shape`; the first that is not is an Error naming the file.
//   Nothing is cropped or resized: that would change what the program did.
SplitPairs load_pairs(const std::filesystem::path& clean, const std::filesystem::path& degraded, const Shape& shape);

}  // namespace spnn
