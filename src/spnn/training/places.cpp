#include <spnn/core/errors.h>
#include <spnn/image/image.h>
#include <spnn/training/places.h>

#include <algorithm>

namespace spnn {
namespace {

constexpr double kPlacesRidge = 5;    // images' worth of doubt about every attribute
constexpr std::int64_t kAround = 9;   // cells: what a cell is compared with
constexpr std::int64_t kMostCells = 32;   // side by side

// Colours, roughness and contrast with the surroundings, of every cell: [B, C + 2, h, w].
Tensor shown_at_places(const Tensor& bytes, std::int64_t cell) {
  const auto x = to_unit(bytes), colours = torch::avg_pool2d(x, cell);
  const auto down = torch::replication_pad2d(x, {0, 0, 0, 1}).diff(1, 2).abs(), across = torch::replication_pad2d(x, {0, 1, 0, 0}).diff(1, 3).abs();
  const auto rough = torch::avg_pool2d((down + across).mean(1, /*keepdim=*/true), cell);
  const auto light = colours.mean(1, /*keepdim=*/true);
  const auto reach = kAround / 2;
  const auto around = torch::avg_pool2d(torch::replication_pad2d(light, {reach, reach, reach, reach}), kAround, 1);
  return torch::cat({colours, rough, (light - around).abs()}, 1);
}

}  // namespace

Tensor attribute_places(const Dataset& train) {
  const torch::NoGradGuard no_grad;
  const auto n = train.size();
  require(n > 0 && train.labels.dim() == 2 && train.labels.size(0) == n && train.labels.size(1) > 0, "attribute places", "images with attributes",
          n > 0 ? fmt::format("{} images with labels of {} dimensions", n, train.labels.dim()) : "no images");
  const auto side = train.images.size(2), cell = std::max<std::int64_t>(2, side / kMostCells), A = train.labels.size(1);
  require(train.images.size(3) == side && side % cell == 0, "attribute places", fmt::format("square images whose sides {} divides", cell),
          fmt::format("{}×{}", side, train.images.size(3)));
  const auto regressors = torch::cat({train.labels.to(torch::kFloat64), torch::ones({n, 1}, torch::kFloat64)}, 1);
  Tensor products, squares;   // of regressors with what is shown, and of what is shown with itself, over all images
  for (std::int64_t first = 0; first < n; first += 512) {
    const auto last = std::min(first + 512, n);
    const auto shown = shown_at_places(train.images.slice(0, first, last), cell).flatten(1).to(torch::kFloat64);
    const auto part = regressors.slice(0, first, last).t().mm(shown), square = shown.square().sum(0);
    products = products.defined() ? products + part : part;
    squares = squares.defined() ? squares + square : square;
  }
  const auto gram = regressors.t().mm(regressors);
  const auto effects = torch::linalg_solve(gram + kPlacesRidge * torch::eye(A + 1, torch::kFloat64), products);
  const auto unexplained = (squares - 2 * (effects * products).sum(0) + (gram.mm(effects) * effects).sum(0)) / static_cast<double>(n);
  const auto in_sigmas = effects.narrow(0, 0, A) / unexplained.clamp_min(1e-8).sqrt();
  return in_sigmas.view({A, -1, side / cell, side / cell}).norm(2, 1).to(torch::kFloat32);
}

}  // namespace spnn
