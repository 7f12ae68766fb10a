#include <spnn/core/config.h>
#include <spnn/core/errors.h>
#include <spnn/core/rng.h>
#include <spnn/image/image.h>
#include <spnn/operators/masks.h>

#include <cmath>
#include <numbers>
#include <random>
#include <sstream>

namespace spnn {
namespace {

// std::mt19937_64 is the same everywhere; the standard's distributions are not.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(Rng(seed).fork(0).seed()) {}
  double operator()(double from, double to) {
    return from + (to - from) * static_cast<double>(engine_() >> 11) * 0x1.0p-53;
  }

 private:
  std::mt19937_64 engine_;
};

void hide_disc(Tensor& mask, double y, double x, double radius) {
  auto known = mask.accessor<bool, 2>();
  for (std::int64_t i = std::max<std::int64_t>(0, std::llround(y - radius)); i < std::min<double>(mask.size(0), y + radius); ++i) {
    for (std::int64_t j = std::max<std::int64_t>(0, std::llround(x - radius)); j < std::min<double>(mask.size(1), x + radius); ++j) {
      if (std::hypot(static_cast<double>(i) - y, static_cast<double>(j) - x) <= radius) known[i][j] = false;
    }
  }
}

Tensor matrix_from_text(const std::string& text, const std::string& file) {
  std::vector<double> values;
  std::int64_t rows = 0, columns = 0, number = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    ++number;
    for (auto& c : line) c = c == ',' || c == ';' || c == '\t' ? ' ' : c;
    std::istringstream cells(line);
    std::int64_t here = 0;
    for (double v; cells >> v; ++here) values.push_back(v);
    require(cells.eof(), fmt::format("{}:{}", file, number), "numbers", fmt::format("'{}'", line));
    if (here == 0) continue;
    if (rows++ == 0) columns = here;
    require(here == columns, fmt::format("{}:{}", file, number), fmt::format("{} numbers", columns), fmt::format("{}", here));
  }
  require(rows > 0, file, "a matrix of numbers, or an image", "nothing");
  return torch::tensor(values, torch::kFloat64).reshape({rows, columns});
}

}  // namespace

Tensor box_mask(std::int64_t height, std::int64_t width, const BoxHole& hole) {
  require(hole.left >= 0 && hole.top >= 0 && hole.width > 0 && hole.height > 0 && hole.left + hole.width <= width &&
              hole.top + hole.height <= height,
          "box", fmt::format("a box inside {} × {} pixels", width, height),
          fmt::format("x={}, y={}, w={}, h={}", hole.left, hole.top, hole.width, hole.height));
  auto mask = torch::ones({height, width}, torch::kBool);
  mask.slice(0, hole.top, hole.top + hole.height).slice(1, hole.left, hole.left + hole.width).fill_(false);
  return mask;
}

Tensor random_mask(std::int64_t height, std::int64_t width, double keep, std::uint64_t seed) {
  require(keep > 0 && keep < 1, "random mask", "a share to keep between 0 and 1", fmt::format("{}", keep));
  const auto n = height * width;
  const auto count = std::clamp<std::int64_t>(std::llround(keep * static_cast<double>(n)), 1, n - 1);
  auto mask = torch::zeros({n}, torch::kBool);
  mask.index_fill_(0, Rng(seed).permutation(n).narrow(0, 0, count), true);
  return mask.reshape({height, width});
}

Tensor freeform_mask(std::int64_t height, std::int64_t width, double hole, std::uint64_t seed) {
  require(hole > 0 && hole < 0.9, "free-form mask", "a share to hide between 0 and 0.9", fmt::format("{}", hole));
  auto mask = torch::ones({height, width}, torch::kBool);
  Dice dice(seed);
  const double side = static_cast<double>(std::min(height, width)), radius = std::max(1.0, side / 24);
  while (1 - mask.to(torch::kFloat64).mean().item<double>() < hole) {
    double y = dice(0, static_cast<double>(height)), x = dice(0, static_cast<double>(width));
    double direction = dice(0, 2 * std::numbers::pi);
    for (int k = 0; k < static_cast<int>(side / 2); ++k) {
      hide_disc(mask, y, x, radius * dice(0.7, 1.3));
      direction += dice(-0.5, 0.5);
      y = std::clamp(y + radius * std::sin(direction), 0.0, static_cast<double>(height - 1));
      x = std::clamp(x + radius * std::cos(direction), 0.0, static_cast<double>(width - 1));
    }
  }
  return mask;
}

Tensor mask_from(const Tensor& picture, std::string_view where, std::int64_t height, std::int64_t width) {
  const auto image = as_grey(picture);
  require(image.size(1) == height && image.size(2) == width, where, fmt::format("a mask of {} × {} pixels", width, height),
          fmt::format("{} × {}", image.size(2), image.size(1)));
  return image[0] >= 128;
}

Tensor read_mask(const std::filesystem::path& file, std::int64_t height, std::int64_t width) {
  return mask_from(read_image(file), file.string(), height, width);
}

Tensor read_kernel(const std::filesystem::path& file) {
  const auto kernel = has_image_extension(file) ? as_grey(read_image(file))[0].to(torch::kFloat64)
                                                : matrix_from_text(read_text(file), file.string());
  const double sum = kernel.sum().item<double>();
  require(std::isfinite(sum) && std::abs(sum) > 1e-12, file.string(), "a kernel whose weights do not sum to zero", fmt::format("{}", sum));
  return kernel / sum;
}

}  // namespace spnn
