#pragma once

#include <spnn/core/config.h>
#include <torch/nn/module.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "support/tensor_near.h"

namespace spnn::testing {

// The weights of tests/fixtures/parity/README.md: a hash anyone can compute, so that numbers of the public networks can
// be compared without shipping them.
inline Tensor fill(const std::vector<std::int64_t>& shape, std::uint64_t k, double scale) {
  auto out = torch::empty(shape, torch::kFloat32);
  auto* data = out.data_ptr<float>();
  constexpr std::uint64_t mask = 0xffffffffULL;
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    std::uint64_t h = (static_cast<std::uint64_t>(i) * 2654435761ULL + k * 40503ULL + 12345ULL) & mask;
    h = ((h ^ (h >> 15)) * 2246822519ULL) & mask;
    h ^= h >> 13;
    data[i] = static_cast<float>((static_cast<double>(h) / 4294967296.0 * 2 - 1) * scale);
  }
  return out;
}

inline Tensor parity_weight(const std::string& name, const std::vector<std::int64_t>& shape, std::uint64_t k) {
  const auto root = [](std::int64_t n) { return std::sqrt(static_cast<double>(n)); };
  if (name.ends_with("A_unconstrained")) return fill(shape, k, 0.5 / root(shape[0]));
  if (shape.size() == 4) return fill(shape, k, 1.5 / root(shape[1] * shape[2] * shape[3]));
  if (shape.size() == 2) return fill(shape, k, 1.5 / root(shape[1]));
  if (name.ends_with("bias")) return fill(shape, k, 0.05);
  return 1 + fill(shape, k, 0.1);
}

inline Json parity_fixture(const std::string& name) {
  return read_config(std::string(SPNN_SOURCE_DIR) + "/tests/fixtures/parity/" + name + ".json");
}

// Every tensor of the fixture's list, by name.
inline std::map<std::string, Tensor> parity_weights(const Json& fixture) {
  std::map<std::string, Tensor> out;
  std::uint64_t k = 0;
  for (const auto& entry : fixture.at("keys_sorted")) {
    const auto name = entry.at(0).get<std::string>();
    out[name] = parity_weight(name, entry.at(1).get<std::vector<std::int64_t>>(), k++);
  }
  return out;
}

// A summary in a fixture: shape, mean, standard deviation and 16 samples.
inline void expect_summary(const Tensor& value, const Json& summary, double tolerance) {
  const auto x = value.to(torch::kFloat64);
  EXPECT_EQ(x.sizes().vec(), summary.at("shape").get<std::vector<std::int64_t>>());
  EXPECT_NEAR(x.mean().item<double>(), summary.at("mean").get<double>(), tolerance);
  EXPECT_NEAR(x.std(/*unbiased=*/false).item<double>(), summary.at("std").get<double>(), tolerance);
  const auto index = torch::tensor(summary.at("sample_index").get<std::vector<std::int64_t>>());
  const auto samples = torch::tensor(summary.at("sample").get<std::vector<double>>(), torch::kFloat64);
  EXPECT_THAT(x.flatten().index_select(0, index), TensorNear(samples, tolerance));
}

}  // namespace spnn::testing
