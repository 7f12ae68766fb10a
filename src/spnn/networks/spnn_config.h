#pragma once

#include <spnn/core/config.h>
#include <spnn/core/shape.h>
#include <spnn/networks/subnet_config.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace spnn {

struct MixConfig {
  enum class Kind { cayley, householder };
  Kind kind = Kind::cayley;
  double epsilon = 0.0;            // cayley: only the reference networks add one
  std::int64_t reflections = 8;    // householder
  friend bool operator==(const MixConfig&, const MixConfig&) = default;
};

struct UnshuffleBlockConfig {
  std::int64_t factor_h = 2;
  std::int64_t factor_w = 2;
  friend bool operator==(const UnshuffleBlockConfig&, const UnshuffleBlockConfig&) = default;
};

// An unshuffle whose cells overlap: LappedUnshuffle.
struct LappedBlockConfig {
  std::int64_t factor = 2;
  bool colour = false;
  friend bool operator==(const LappedBlockConfig&, const LappedBlockConfig&) = default;
};

// s and t apart, or — with `t` absent — one net for both: `s` then describes the shared net [s | t].
struct SurjectionBlockConfig {
  std::int64_t out = 0;
  double scale_bound = 2.0;
  MixConfig mix;
  SubnetConfig s;
  std::optional<SubnetConfig> t;
  SubnetConfig r;
  friend bool operator==(const SurjectionBlockConfig&, const SurjectionBlockConfig&) = default;
};

struct CouplingBlockConfig {
  enum class Kind { additive, affine };
  Kind kind = Kind::affine;
  std::int64_t moved = 0;          // 0: half of the channels
  double scale_bound = 2.0;
  MixConfig mix;
  SubnetConfig s;                  // unused by an additive coupling
  std::optional<SubnetConfig> t;
  friend bool operator==(const CouplingBlockConfig&, const CouplingBlockConfig&) = default;
};

// A rising curve a channel.
struct CurveBlockConfig {
  std::int64_t pieces = 64;
  double slope_bound = 2.0;
  friend bool operator==(const CurveBlockConfig&, const CurveBlockConfig&) = default;
};

// A matrix a row or a column: LineMap.
struct LinesBlockConfig {
  enum class Axis { rows, columns };
  Axis axis = Axis::rows;
  bool colours = true;
  double gain_bound = 2.0;
  friend bool operator==(const LinesBlockConfig&, const LinesBlockConfig&) = default;
};

using BlockConfig = std::variant<UnshuffleBlockConfig, LappedBlockConfig, SurjectionBlockConfig, CouplingBlockConfig, CurveBlockConfig,
                                 LinesBlockConfig>;

// A whole network: what a configuration file says and what a model file carries as `architecture`.
struct SpnnConfig {
  std::string name;                       // of the preset, or the user's
  Shape input;
  std::vector<BlockConfig> blocks;
  std::vector<std::string> r_sets;        // further sets of r nets beside the learned one, e.g. "min_norm"
  friend bool operator==(const SpnnConfig&, const SpnnConfig&) = default;
};

Json to_json(const SpnnConfig& config);
SpnnConfig spnn_from_json(const Json& json, const std::string& where = "architecture");

// Replaces the output channels of the last surjection: presets serve any number of outputs.
SpnnConfig with_outputs(SpnnConfig config, std::int64_t outputs);

}  // namespace spnn
