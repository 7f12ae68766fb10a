// Winograd against torch's direct convolution, forward and backward, interleaved: bench_conv [n c k size]…
#include <spnn/core/rng.h>
#include <spnn/kernels/convolution.h>
#include <spnn/kernels/exact.h>

#include <ATen/Parallel.h>

#include <chrono>
#include <cstdio>

#include "support/environment.h"

namespace {

using torch::Tensor;

double seconds(const std::function<void()>& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Times { double forward = 1e9, backward = 1e9; };

void once(const Tensor& x, const Tensor& w, const Tensor& b, bool exact, Times& best) {
  spnn::ScopedExactKernels scope(exact);
  {
    torch::NoGradGuard no_grad;
    best.forward = std::min(best.forward, seconds([&] { spnn::conv3x3(x, w, b); }));
  }
  Tensor y = spnn::conv3x3(x, w, b), dy = torch::ones_like(y);
  best.backward = std::min(best.backward, seconds([&] { y.backward(dy); }));
}

}  // namespace

int main(int, char** argv) {
  spnn::bench::use_environment_of_the_command(argv);
  at::set_num_threads(2);
  const spnn::Rng rng(1);
  const std::int64_t shapes[][4] = {{16, 48, 48, 32}, {16, 96, 96, 16}, {16, 192, 192, 8}, {16, 256, 256, 4}, {16, 96, 48, 32},
                                    {64, 48, 48, 32}, {64, 96, 96, 16}, {1, 48, 48, 32}, {1, 96, 96, 16}, {1, 192, 192, 8},
                                    {1, 256, 256, 4}, {16, 12, 48, 32}, {16, 128, 128, 32}, {1, 128, 128, 256}, {1, 256, 256, 64},
                                    {1, 512, 512, 16}, {1, 512, 512, 8}};
  std::printf("%28s %21s %21s\n", "n c k size", "forward GFLOP/s", "backward GFLOP/s");
  for (const auto& [n, c, k, size] : shapes) {
    const Tensor x = rng.randn({n, c, size, size}).requires_grad_(), w = rng.randn({k, c, 3, 3}).requires_grad_();
    const Tensor b = rng.randn({k}).requires_grad_();
    Times own, direct;
    for (int i = 0; i < 8; ++i) {
      once(x, w, b, false, own);
      once(x, w, b, true, direct);
    }
    const double gflop = 18e-9 * static_cast<double>(n * c * k * size * size);
    std::printf("%6ld %6ld %6ld %6ld  %6.0f %6.0f %6.2fx  %6.0f %6.0f %6.2fx\n", n, c, k, size, gflop / direct.forward,
                gflop / own.forward, direct.forward / own.forward, 2 * gflop / direct.backward, 2 * gflop / own.backward,
                direct.backward / own.backward);
  }
}
