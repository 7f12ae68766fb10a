// Back-project an image onto "the images this network maps to y": exact, in closed form, without an optimiser.
#include <spnn/spnn.h>

#include <iostream>

int main() {
  torch::NoGradGuard no_grad;
  auto net = std::make_shared<spnn::Spnn>(spnn::spnn_preset("fashion"));   // 1×32×32 → 10 logits
  spnn::randomise_spnn(*net, spnn::Rng(1));                                // or load_spnn("models/fashion-classifier.safetensors")
  const spnn::SpnnProjector g(net, {.pseudo_inverse = spnn::PseudoInverse::anchored, .metric = spnn::Metric::residual});

  const auto x = spnn::Rng(2).randn({1, 1, 32, 32});
  const auto y = spnn::Rng(3).randn({1, 10});
  const auto x_new = g.nlbp(x, y);                                         // g(x_new) = y, the rest of x kept

  const auto error = (g.forward(x_new) - y).abs().max().item<float>();
  std::cout << "|g(x') - y| = " << error << "\n";
  return error < 1e-3 ? 0 : 1;
}
