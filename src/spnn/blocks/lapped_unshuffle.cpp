#include <spnn/blocks/lapped_unshuffle.h>
#include <spnn/core/errors.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <tuple>

namespace spnn {
namespace {

using Line = std::vector<double>;

constexpr double kLappedTurn = std::numbers::pi / 8;       // of two mirrored differences
constexpr double kDaubechiesTurn = std::numbers::pi / 12;

// The orthogonal mix of the 2h values around a border, [2h][2h].
std::vector<Line> border_mix(std::int64_t half) {
  const auto n = static_cast<std::size_t>(2 * half), h = static_cast<std::size_t>(half);
  std::vector<Line> P(n, Line(n, 0));
  if (half == 1) {
    const double c = std::cos(kDaubechiesTurn), s = std::sin(kDaubechiesTurn);
    return {{c, s}, {-s, c}};
  }
  // Sums of mirrored pairs stay. Differences, nearest pair first, are turned by V, a product of plane rotations of neighbours.
  std::vector<Line> V(h, Line(h, 0));
  for (std::size_t i = 0; i < h; ++i) V[i][i] = 1;
  const double c = std::cos(kLappedTurn), s = std::sin(kLappedTurn);
  for (std::size_t i = 0; i + 1 < h; ++i) {
    for (std::size_t k = 0; k < h; ++k) {
      const double near = V[i][k], far = V[i + 1][k];
      V[i][k] = c * near + s * far, V[i + 1][k] = c * far - s * near;
    }
  }
  for (std::size_t i = 0; i < h; ++i) {
    for (std::size_t k = 0; k < h; ++k) {
      const double sum = i == k ? 0.5 : 0, difference = 0.5 * V[i][k];
      P[h - 1 - i][h - 1 - k] = sum + difference, P[h - 1 - i][h + k] = sum - difference;
      P[h + i][h - 1 - k] = sum - difference, P[h + i][h + k] = sum + difference;
    }
  }
  return P;
}

// An orthonormal basis of a cell: what a constant line has become in it, then cosines of rising frequency.
std::vector<Line> cell_basis(const Line& constant) {
  const auto n = constant.size();
  std::vector<Line> basis;
  for (std::size_t k = 0; k < n; ++k) {
    Line v(n);
    for (std::size_t i = 0; i < n; ++i) {
      v[i] = k == 0 ? constant[i] : std::cos(std::numbers::pi * static_cast<double>(k) * (static_cast<double>(i) + 0.5) / static_cast<double>(n));
    }
    for (int twice = 0; twice < 2; ++twice) {   // the second time takes away the rounding of the first
      for (const auto& u : basis) {
        const double along = std::inner_product(u.begin(), u.end(), v.begin(), 0.0);
        for (std::size_t i = 0; i < n; ++i) v[i] -= along * u[i];
      }
    }
    const double norm = std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
    for (auto& value : v) value /= norm;
    basis.push_back(std::move(v));
  }
  return basis;
}

// Smaller is smoother. Of three colours the differences count as half an octave higher; of other channels the earlier ones are the
// smoother, if an ordered transform made them.
double roughness(const LappedUnshuffleConfig& c, std::int64_t channel, std::int64_t i, std::int64_t j) {
  const auto frequency = static_cast<double>(i * i + j * j);
  if (c.colour) return channel == 0 ? frequency : 2 * frequency + 3;
  return static_cast<double>(channel) / static_cast<double>(c.in.channels) + 0.25 * frequency;
}

Tensor smoothest_first(const LappedUnshuffleConfig& c) {
  std::vector<std::pair<double, std::int64_t>> all;
  for (std::int64_t channel = 0, k = 0; channel < c.in.channels; ++channel) {
    for (std::int64_t i = 0; i < c.factor; ++i) {
      for (std::int64_t j = 0; j < c.factor; ++j) all.emplace_back(roughness(c, channel, i, j), k++);
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  auto order = torch::empty({static_cast<std::int64_t>(all.size())}, torch::kInt64);
  for (std::size_t k = 0; k < all.size(); ++k) order.data_ptr<std::int64_t>()[k] = all[k].second;
  return order;
}

// S T and Tᵀ S⁻¹, S the scale of each frequency.
std::pair<Tensor, Tensor> there_and_back(std::int64_t length, std::int64_t factor) {
  const auto T = lapped_matrix(length, factor);
  auto scale = torch::ones({length, 1}, torch::kFloat64);
  scale.slice(0, 0, length, factor).fill_(1 / std::sqrt(static_cast<double>(factor)));
  return {scale * T, (T / scale).t().contiguous()};
}

Shape lapped_shape(const LappedUnshuffleConfig& c) {
  require(c.factor >= 2 && c.factor % 2 == 0, "LappedUnshuffle", "an even factor", fmt::format("{}", c.factor));
  require(c.in.height % c.factor == 0 && c.in.width % c.factor == 0, "LappedUnshuffle",
          fmt::format("a height and width that {} divides", c.factor), to_string(c.in));
  require(!c.colour || c.in.channels == 3, "LappedUnshuffle", "three channels of colour", to_string(c.in));
  return {c.in.channels * c.factor * c.factor, c.in.height / c.factor, c.in.width / c.factor};
}

}  // namespace

Tensor lapped_matrix(std::int64_t length, std::int64_t factor) {
  const auto n = static_cast<std::size_t>(factor), h = n / 2, cells = static_cast<std::size_t>(length) / n;
  std::vector<Line> mixed(n * cells, Line(n * cells, 0));   // what the borders' mixes make of a line
  for (std::size_t i = 0; i < mixed.size(); ++i) mixed[i][i] = 1;
  const auto P = border_mix(factor / 2);
  for (std::size_t cell = 1; cell < cells; ++cell) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < n; ++k) mixed[cell * n - h + i][cell * n - h + k] = P[i][k];
    }
  }
  auto T = torch::zeros({length, length}, torch::kFloat64);
  auto at = T.accessor<double, 2>();
  for (std::size_t cell = 0; cell < cells; ++cell) {
    Line constant(n);
    for (std::size_t i = 0; i < n; ++i) {
      const auto& row = mixed[cell * n + i];
      constant[i] = std::accumulate(row.begin(), row.end(), 0.0);
    }
    const auto basis = cell_basis(constant);
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t from = 0; from < mixed.size(); ++from) {
          at[static_cast<std::int64_t>(cell * n + k)][static_cast<std::int64_t>(from)] += basis[k][i] * mixed[cell * n + i][from];
        }
      }
    }
  }
  return T;
}

LappedUnshuffle::LappedUnshuffle(const LappedUnshuffleConfig& config) : Block(config.in, lapped_shape(config)), config_(config) {
  std::tie(rows_, rows_back_) = there_and_back(config.in.height, config.factor);
  std::tie(columns_, columns_back_) = there_and_back(config.in.width, config.factor);
  order_ = smoothest_first(config);
  original_ = order_.argsort();
  if (!config.colour) return;
  colours_ = torch::tensor({{1.0, 1.0, 1.0}, {1.0, 0.0, -1.0}, {1.0, -2.0, 1.0}}, torch::kFloat64);
  colours_ = colours_ / colours_.square().sum(1, /*keepdim=*/true).sqrt();
}

Completion LappedUnshuffle::complete(const Tensor& x) const {
  require_shape(x, in_shape(), "LappedUnshuffle");
  auto h = x;
  if (colours_.defined()) h = colours_.to(x.options()).matmul(h.flatten(2)).view_as(x);
  h = rows_.to(x.options()).matmul(h.matmul(columns_.to(x.options()).t()));
  return {torch::pixel_unshuffle(h, config_.factor).index_select(1, order_.to(x.device())), {}};
}

Tensor LappedUnshuffle::pinv(const Tensor& y) const {
  require_shape(y, out_shape(), "LappedUnshuffle inverse");
  auto h = torch::pixel_shuffle(y.index_select(1, original_.to(y.device())), config_.factor);
  h = rows_back_.to(y.options()).matmul(h.matmul(columns_back_.to(y.options()).t()));
  if (colours_.defined()) h = colours_.to(y.options()).t().matmul(h.flatten(2)).view(in_shape().batched(y.size(0)));
  return h;
}

}  // namespace spnn
