#pragma once

#include <spnn/core/config.h>

#include <cstdint>
#include <string>
#include <vector>

namespace spnn {

// One layer of an explicit subnet. 0 output channels: as many as the block needs (for the last convolution).
struct SubnetLayer {
  enum class Op { conv, up, shuffle };   // up: ConvTranspose2d k4 s2 p1; shuffle: PixelShuffle by `factor`
  Op op = Op::conv;
  std::int64_t out = 0;
  std::int64_t kernel = 3;
  std::int64_t stride = 1;
  std::int64_t factor = 1;
  friend bool operator==(const SubnetLayer&, const SubnetLayer&) = default;
};

// A network for s, t or r, without its input and output channels, which the block knows.
//   sequential  the listed layers, an activation between any two convolutions
//   conv        `depth` convolutions of one kernel size, `hidden` channels between them (kernel 1: pointwise)
//   residual    a convolution to `hidden` channels, `depth` residual blocks of two convolutions, a convolution out
struct SubnetConfig {
  enum class Kind { sequential, conv, residual };
  enum class Activation { relu, silu };
  enum class Output { linear, tanh };

  Kind kind = Kind::conv;
  std::int64_t hidden = 64;
  std::int64_t depth = 3;
  std::int64_t kernel = 3;
  bool norm = false;                    // group norm inside residual blocks
  Activation activation = Activation::relu;
  Output output = Output::linear;
  std::vector<SubnetLayer> layers;      // of a sequential one
  friend bool operator==(const SubnetConfig&, const SubnetConfig&) = default;
};

// JSON, as in a configuration file: {"kind": "residual", "hidden": 96, "depth": 1, "activation": "silu"}. Unknown
// keys and values are errors that name `where`.
Json to_json(const SubnetConfig& config);
SubnetConfig subnet_from_json(const Json& json, const std::string& where);

}  // namespace spnn
