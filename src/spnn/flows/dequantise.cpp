#include <spnn/flows/dequantise.h>

#include <cmath>
#include <numbers>

namespace spnn {

Tensor dequantise(const Tensor& bytes, std::int64_t bits, const Tensor& u) {
  const auto levels = static_cast<double>(1 << bits);
  const auto v = torch::floor(bytes.to(u.scalar_type()) / static_cast<double>(1 << (8 - bits)));
  return (v + u) / levels - 0.5;
}

Tensor quantised_bytes(const Tensor& x, std::int64_t bits) {
  const auto levels = static_cast<double>(1 << bits);
  const auto v = torch::floor((x + 0.5) * levels).clamp(0, levels - 1);
  return torch::round(v * (255 / (levels - 1))).to(torch::kUInt8);
}

Tensor bits_per_dim(const Tensor& log_p, std::int64_t dimensions, std::int64_t bits) {
  return -log_p / (static_cast<double>(dimensions) * std::numbers::ln2) + static_cast<double>(bits);
}

}  // namespace spnn
