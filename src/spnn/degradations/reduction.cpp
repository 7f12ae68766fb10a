#include <spnn/core/errors.h>
#include <spnn/degradations/reduction.h>
#include <spnn/operators/stage.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace spnn {
namespace {

// The orthonormal DCT-II, frequency by frequency.
Tensor dct_matrix(std::int64_t n) {
  const auto k = torch::arange(n, torch::kFloat64).unsqueeze(1), p = torch::arange(n, torch::kFloat64).unsqueeze(0);
  auto D = torch::cos((p + 0.5) * k * (std::numbers::pi / static_cast<double>(n))) * std::sqrt(2.0 / static_cast<double>(n));
  D[0] *= std::sqrt(0.5);
  return D;
}

// Rows: luma and two differences orthogonal to it and to each other, blue first.
Tensor luma_first() {
  const auto luma = torch::tensor({0.299, 0.587, 0.114}, torch::kFloat64);
  const auto Y = luma / luma.norm();
  auto B = torch::tensor({0.0, 0.0, 1.0}, torch::kFloat64);
  B = B - Y.dot(B) * Y;
  B = B / B.norm();
  return torch::stack({Y, B, torch::linalg_cross(Y, B)});
}

struct Frequency {
  std::int64_t colour = 0, down = 0, across = 0;
};

std::vector<Frequency> zigzag(std::int64_t colour, std::int64_t n) {
  std::vector<Frequency> all;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) all.push_back({colour, i, j});
  }
  std::ranges::stable_sort(all, {}, [](const Frequency& f) { return f.down + f.across; });
  return all;
}

// Each colour's first frequencies, then all that is left.
std::vector<Frequency> ordered(const std::vector<std::int64_t>& kept, std::int64_t cell) {
  std::vector<Frequency> first, rest;
  for (std::size_t c = 0; c < kept.size(); ++c) {
    const auto all = zigzag(static_cast<std::int64_t>(c), cell);
    first.insert(first.end(), all.begin(), all.begin() + kept[c]);
    rest.insert(rest.end(), all.begin() + kept[c], all.end());
  }
  first.insert(first.end(), rest.begin(), rest.end());
  return first;
}

Tensor basis_of(const std::vector<Frequency>& order, const Tensor& colours, std::int64_t cell) {
  const auto D = dct_matrix(cell);
  std::vector<Tensor> rows;
  for (const auto& f : order) {
    const auto pattern = D[f.down].unsqueeze(1) * D[f.across].unsqueeze(0);
    rows.push_back((colours[f.colour].view({-1, 1, 1}) * pattern).flatten());
  }
  const auto Q = torch::stack(rows);
  return cayley_signs(Q).unsqueeze(1) * Q;
}

}  // namespace

Tensor cayley_signs(const Tensor& Q) {
  auto M = Q.to(torch::kFloat64).clone();
  const auto n = M.size(0);
  auto d = torch::ones({n}, torch::kFloat64);
  for (std::int64_t k = 0; k < n; ++k) {
    const double q = M[k][k].item<double>();
    d[k] = q < 0 ? -1.0 : 1.0;
    const double pivot = q + (q < 0 ? -1.0 : 1.0);
    if (k + 1 == n) break;
    auto below = M.slice(0, k + 1);
    below.slice(1, k + 1) -= (below.select(1, k) / pivot).unsqueeze(1) * M[k].slice(0, k + 1).unsqueeze(0);
  }
  return d;
}

Reduction::Reduction(const std::string& spec, const Shape& picture) : spec_(spec), in_(picture) {
  const auto name = stage_name(spec);
  std::vector<std::int64_t> kept(static_cast<std::size_t>(picture.channels), 1);
  auto colours = torch::eye(picture.channels, torch::kFloat64);
  if (name == "pool") {
    Stage s(spec, {"factor"});
    cell_ = s.integer("factor", 2);
  } else if (name == "dct") {
    Stage s(spec, {"luma", "chroma", "block"});
    cell_ = s.integer("block", 8);
    if (picture.channels == 3) colours = luma_first();
    kept.assign(kept.size(), s.integer("chroma", 6));
    kept[0] = s.integer("luma", 28);
  } else {
    throw UsageError(fmt::format("keep: expected dct:luma=28,chroma=6 or pool:2, got '{}'", spec));
  }
  if (cell_ < 2 || picture.height % cell_ != 0 || picture.width % cell_ != 0) {
    throw UsageError(fmt::format("keep {}: expected cells of 2 pixels or more that divide {} × {}, got {}", spec, picture.width, picture.height, cell_));
  }
  const auto most = cell_ * cell_;
  for (const auto count : kept) {
    kept_ += count;
    if (count < 0 || count > most) {
      throw UsageError(fmt::format("keep {}: expected 0 to {} frequencies, as a cell of {} × {} has, got {}", spec, most, cell_, cell_, count));
    }
  }
  if (kept_ < 1 || kept_ >= most * picture.channels) {
    throw UsageError(fmt::format("keep {}: expected some frequencies, but fewer than all {}, got {}", spec, most * picture.channels, kept_));
  }
  basis_ = basis_of(ordered(kept, cell_), colours, cell_);
}

Tensor Reduction::forward(const Tensor& v) const {
  require_shape(v, in_, "keep " + spec_);
  const auto T = basis_.slice(0, 0, kept_).to(v.options());
  return torch::conv2d(torch::pixel_unshuffle(v, cell_), T.unsqueeze(-1).unsqueeze(-1));
}

Tensor Reduction::picture(const Tensor& y) const {
  require_shape(y, out_shape(), "keep " + spec_);
  const auto T = basis_.slice(0, 0, kept_).to(y.options());
  return torch::pixel_shuffle(torch::conv2d(y, T.t().unsqueeze(-1).unsqueeze(-1)), cell_);
}

std::string default_reduction(const Shape& picture) { return picture.channels == 1 ? "dct:luma=60" : "dct:luma=60,chroma=60"; }

}  // namespace spnn
