// Your own network: described, trained on data of your own, verified.
#include <spnn/spnn.h>

#include <torch/optim/adam.h>

#include <iostream>

int main() {
  // 1×8×8 → 2 outputs: pixels of 4×4 cells become channels, then two surjections.
  const spnn::Json st{{"kind", "conv"}, {"hidden", 16}, {"kernel", 1}};
  const auto net = std::make_shared<spnn::Spnn>(spnn::spnn_from_json(
      {{"name", "own"}, {"input", {1, 8, 8}},
       {"blocks", {{{"kind", "unshuffle"}, {"factor", 4}}, {{"kind", "surjection"}, {"out", 4}, {"st", st}, {"r", st}},
                   {{"kind", "unshuffle"}, {"factor", 2}}, {{"kind", "surjection"}, {"out", 2}, {"st", st}, {"r", st}}}}}));
  spnn::initialise_spnn(*net, spnn::Rng(1));

  // Is the left half brighter? Is the upper?
  const auto x = spnn::Rng(2).randn({256, 1, 8, 8});
  const auto labels = torch::stack({x.slice(3, 0, 4).mean({1, 2, 3}) > x.slice(3, 4, 8).mean({1, 2, 3}),
                                    x.slice(2, 0, 4).mean({1, 2, 3}) > x.slice(2, 4, 8).mean({1, 2, 3})}, 1).to(torch::kFloat32);
  torch::optim::Adam optimizer(net->parameters(), 3e-3);
  double right = 0;
  for (int step = 0; step < 150; ++step) {
    const auto trace = net->trace(x);
    auto loss = torch::binary_cross_entropy_with_logits(trace.y, labels);                                       // g says the labels,
    for (std::size_t l = 0; l < trace.levels.size(); ++l) {                                                     // r says what g discards
      loss = loss + 0.1 * (trace.levels[l].z - net->r(l, trace.levels[l].y)).square().mean();
    }
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    right = ((trace.y > 0) == (labels > 0.5)).to(torch::kFloat32).mean().item<double>();
  }
  const torch::NoGradGuard no_grad;
  const auto verified = spnn::verify_network(net, x.slice(0, 0, 8), net->forward(x).slice(0, 8, 16));
  std::cout << 100 * right << " % right; the identities " << (verified.passed() ? "hold" : "do NOT hold") << "\n";
  return right > 0.8 && verified.passed() ? 0 : 1;
}
