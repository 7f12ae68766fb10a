#pragma once

#include <spnn/core/shape.h>

#include <functional>
#include <string>
#include <vector>

namespace spnn {

// A degradation D of which nothing is known but what it does: a picture in, a picture of the same size out, both in [−1, 1]. No
// gradient, no pseudo-inverse; `spnn train degradation` fits a network to it that has both.
struct BlackBox {
  std::string spec;
  std::function<Tensor(const Tensor&)> D;

  explicit operator bool() const { return static_cast<bool>(D); }
  Tensor operator()(const Tensor& x) const { return D(x); }   // [B, C, H, W]
};

struct BlackBoxInfo {
  std::string name, parameters, what;
};
const std::vector<BlackBoxInfo>& black_box_catalogue();

// "jpeg:20", "lens:0.2+jpeg:20": stages in the order in which they act, in the grammar of operators. Unknown names and values are
// UsageErrors that say what would do.
BlackBox make_black_box(const std::string& spec, const Shape& picture);

}  // namespace spnn
