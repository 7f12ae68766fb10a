#include <spnn/core/errors.h>
#include <spnn/core/shape.h>
#include <spnn/evaluation/image_quality.h>

#include <ATen/ops/conv2d.h>

namespace spnn {
namespace {

constexpr std::int64_t window = 11;
constexpr double window_sigma = 1.5, peak = 255, c1 = 0.01 * peak * 0.01 * peak, c2 = 0.03 * peak * 0.03 * peak;

void require_pair(const Tensor& a, const Tensor& b, std::string_view where) {
  require(a.dim() == 4 && a.sizes() == b.sizes() && a.scalar_type() == torch::kUInt8 && b.scalar_type() == torch::kUInt8, where,
          fmt::format("two sets of byte images {}", to_string(b.sizes())), to_string(a.sizes()));
}

// The Gaussian-weighted mean around every pixel that has a whole window, all channels as one batch.
Tensor local_mean(const Tensor& planes) {
  const auto x = torch::arange(window, torch::kFloat64) - window / 2;
  auto line = (-x.square() / (2 * window_sigma * window_sigma)).exp();
  line = line / line.sum();
  const auto across = at::conv2d(planes, line.reshape({1, 1, 1, window}));
  return at::conv2d(across, line.reshape({1, 1, window, 1}));
}

}  // namespace

Tensor psnr(const Tensor& images, const Tensor& originals) {
  require_pair(images, originals, "PSNR");
  const auto error = (images.to(torch::kFloat64) - originals.to(torch::kFloat64)).square().flatten(1).mean(1);
  return 10 * torch::log10(peak * peak / error);
}

Tensor ssim(const Tensor& images, const Tensor& originals) {
  require_pair(images, originals, "SSIM");
  require(images.size(2) >= window && images.size(3) >= window, "SSIM", "images of 11 × 11 pixels or more", to_string(images.sizes()));
  const auto planes = [](const Tensor& t) { return t.to(torch::kFloat64).flatten(0, 1).unsqueeze(1); };
  const auto a = planes(images), b = planes(originals);
  const auto ma = local_mean(a), mb = local_mean(b);
  const auto va = local_mean(a * a) - ma * ma, vb = local_mean(b * b) - mb * mb, cov = local_mean(a * b) - ma * mb;
  const auto map = (2 * ma * mb + c1) * (2 * cov + c2) / ((ma * ma + mb * mb + c1) * (va + vb + c2));
  return map.reshape({images.size(0), -1}).mean(1);
}

}  // namespace spnn
