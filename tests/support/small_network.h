#pragma once

#include <spnn/networks/spnn.h>

#include <memory>

namespace spnn::testing {

// Five blocks and three levels on 2×4×4 images, with random weights and a min-norm set of r nets.
inline std::shared_ptr<const Spnn> small_network(torch::Dtype type) {
  auto net = std::make_shared<Spnn>(spnn_from_json(Json::parse(R"({
    "name": "small", "input": [2, 4, 4], "r_sets": ["min_norm"],
    "blocks": [
      {"kind": "unshuffle", "factor": 2},
      {"kind": "surjection", "out": 5, "s": {"hidden": 8}, "t": {"hidden": 8}, "r": {"hidden": 8}},
      {"kind": "unshuffle", "factor": 2},
      {"kind": "surjection", "out": 12, "st": {"kind": "residual", "hidden": 16, "depth": 1, "kernel": 1},
       "r": {"hidden": 16, "kernel": 1}},
      {"kind": "surjection", "out": 4, "st": {"hidden": 16, "kernel": 1},
       "r": {"hidden": 16, "kernel": 1, "activation": "silu"}}
    ]})")));
  randomise_spnn(*net, Rng(6));
  net->to(type);
  return net;
}

inline Tensor small_input(std::int64_t batch, torch::Dtype type, std::uint64_t seed = 1) {
  return 0.5 * Rng(seed).randn({batch, 2, 4, 4}, type);
}

inline Tensor small_target(std::int64_t batch, torch::Dtype type, std::uint64_t seed = 2) {
  return Rng(seed).randn({batch, 4}, type);
}

}  // namespace spnn::testing
