// Operators that deepinv has too (docs/names.md), on inputs made by a formula: A, its adjoint and A† against sums written out as the
// definition has them, so that anybody can check another library with the same numbers.

#include <gtest/gtest.h>
#include <spnn/operators/catalogue.h>
#include <spnn/operators/circulant_operator.h>
#include <spnn/operators/row_space_operator.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <numbers>

#include "support/tensor_near.h"

namespace spnn {
namespace {

using testing::TensorNear;

constexpr Shape kFormula{3, 8, 8};

// x[c, i, j] = sin(0.9 i + 0.4 j + c) · cos(0.3 i j)
Tensor by_formula(const Shape& shape) {
  auto x = torch::zeros(shape.batched(1), torch::kFloat64);
  auto at = x.accessor<double, 4>();
  for (std::int64_t c = 0; c < shape.channels; ++c)
    for (std::int64_t i = 0; i < shape.height; ++i)
      for (std::int64_t j = 0; j < shape.width; ++j) {
        const auto I = static_cast<double>(i), J = static_cast<double>(j);
        at[0][c][i][j] = std::sin(0.9 * I + 0.4 * J + static_cast<double>(c)) * std::cos(0.3 * I * J);
      }
  return x;
}

// The least-squares solution of least norm, by torch and the dense matrix.
Tensor least_norm(const LinearOperator& A, const Tensor& y) {
  return torch::linalg_pinv(matrix_of(A), 1e-10).mv(y.flatten()).reshape(A.in_shape().batched(1));
}

void expect_adjoint_and_pinv(const LinearOperator& A) {
  const auto x = by_formula(A.in_shape()), y = by_formula(A.out_shape()).reshape(A.forward(x).sizes());
  EXPECT_NEAR((A.forward(x) * y).sum().item<double>(), (x * A.adjoint(y)).sum().item<double>(), 1e-9);
  EXPECT_THAT(A.pinv(y), TensorNear(least_norm(A, y), 1e-8));
}

// deepinv: BlurFFT, Blur(padding="circular"); the middle of the kernel at (kh/2, kw/2).
TEST(NamesOfOthers, ConvolutionWithAKernel) {
  const auto kernel = torch::tensor({0.1, 0.2, 0.05, 0.3, 0.05, 0.3}, torch::kFloat64).reshape({2, 3});
  const CirculantOperator A({kFormula, kernel, 0});
  const auto x = by_formula(kFormula);
  auto y = torch::zeros_like(x);
  for (std::int64_t a = 0; a < 2; ++a)
    for (std::int64_t b = 0; b < 3; ++b) y += torch::roll(x, {a - 1, b - 1}, {2, 3}) * kernel[a][b];   // y[i] = Σ k[a] x[i − (a − kh/2)]
  EXPECT_THAT(A.forward(x), TensorNear(y, 1e-10));
  expect_adjoint_and_pinv(A);
}

// deepinv: Inpainting(mask), Denoising.
TEST(NamesOfOthers, Inpainting) {
  const auto mask = ((torch::arange(64) * 7) % 5 < 3).reshape({1, 1, 8, 8});
  const auto A = make_operator("mask", kFormula, mask).linear;
  const auto x = by_formula(kFormula);
  EXPECT_THAT(A->forward(x), TensorNear(x * mask, 1e-12));
  EXPECT_THAT(A->adjoint(x), TensorNear(x * mask, 1e-12));
  EXPECT_THAT(A->pinv(x), TensorNear(x * mask, 1e-12));
  EXPECT_THAT(make_operator("denoise", kFormula).linear->forward(x), TensorNear(x, 0));
}

// deepinv: Decolorize, with Rec. 601 weights (its 0.2989 is rounded).
TEST(NamesOfOthers, Decolorize) {
  const auto A = make_operator("grey", kFormula).linear;
  const auto x = by_formula(kFormula);
  const auto y = x.select(1, 0) * 0.299 + x.select(1, 1) * 0.587 + x.select(1, 2) * 0.114;
  EXPECT_THAT(A->forward(x).squeeze(1), TensorNear(y, 1e-12));
  EXPECT_THAT(A->adjoint(y.unsqueeze(1)).select(1, 1), TensorNear(y * 0.587, 1e-12));
  expect_adjoint_and_pinv(*A);
}

// deepinv: Downsampling with a filter of factor × factor equal weights, cells that begin at the first pixel.
TEST(NamesOfOthers, DownsamplingByMeans) {
  const auto A = make_operator("sr2", kFormula).linear;
  const auto x = by_formula(kFormula);
  const auto even = [](const Tensor& v, std::int64_t dim, std::int64_t from) { return v.slice(dim, from, 8, 2); };
  const auto y = (even(even(x, 2, 0), 3, 0) + even(even(x, 2, 1), 3, 0) + even(even(x, 2, 0), 3, 1) + even(even(x, 2, 1), 3, 1)) / 4;
  EXPECT_THAT(A->forward(x), TensorNear(y, 1e-12));
  EXPECT_THAT(A->adjoint(y), TensorNear(y.repeat_interleave(2, 2).repeat_interleave(2, 3) / 4, 1e-12));
  expect_adjoint_and_pinv(*A);
}

// deepinv: Tomography. Theirs turns the image, ours shares pixels between detectors: the same where nothing has to be turned.
TEST(NamesOfOthers, TomographyAlongTheAxes) {
  const auto A = make_operator("radon:angles=2,cut=0", kFormula).linear;
  const auto x = by_formula(kFormula), y = A->forward(x);
  const auto detectors = radon_detectors(8, 8);   // 13: the image's middle, 3.5, lies at detector 6
  ASSERT_EQ(detectors, 13);
  const auto sums = x.sum(2) / 8;   // down the columns: column j at 6 + j − 3.5, half to each neighbour
  auto expected = torch::zeros({1, 3, 13}, torch::kFloat64);
  expected.slice(2, 2, 10) += sums / 2;
  expected.slice(2, 3, 11) += sums / 2;
  EXPECT_THAT(y.select(2, 0), TensorNear(expected, 1e-9));
  expect_adjoint_and_pinv(*A);
}

// ∇_x ⟨A x, y⟩ = Aᵀy: methods go back through the operator.
TEST(NamesOfOthers, TomographyHasItsGradient) {
  const auto A = make_operator("radon:4", kFormula).linear;
  const auto x = by_formula(kFormula).requires_grad_(true);
  const auto seen = A->forward(x), y = by_formula(A->out_shape()).reshape(seen.sizes());
  EXPECT_THAT(torch::autograd::grad({(seen * y).sum()}, {x})[0], TensorNear(A->adjoint(y), 1e-9));
}

// deepinv: PhaseRetrieval measures |Bx|² of a complex linear B; ours |F(x + 1)| on a larger ground, by the sum that defines it.
TEST(NamesOfOthers, FourierMagnitudes) {
  const auto g = make_operator("phase:oversample=2", {1, 4, 4}).g;
  const auto x = by_formula({1, 4, 4}), y = g->forward(x);
  for (const auto& [k, l] : {std::pair{0, 0}, {1, 3}, {5, 2}}) {
    double re = 0, im = 0;
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) {
        const double angle = -2 * std::numbers::pi * (k * i + l * j) / 8, value = x[0][0][i][j].item<double>() + 1;
        re += value * std::cos(angle), im += value * std::sin(angle);
      }
    EXPECT_NEAR((y[0][0][k][l].item<double>()), std::hypot(re, im) / 8, 1e-9);
  }
}

}  // namespace
}  // namespace spnn
