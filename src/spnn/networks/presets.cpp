#include <spnn/core/errors.h>
#include <spnn/networks/presets.h>

#include <array>

#include <fmt/ranges.h>

namespace spnn {
namespace {

using Op = SubnetLayer::Op;

// ------------------------------------------------------------------ the reference networks

SubnetLayer conv(std::int64_t out, std::int64_t stride = 1) { return {.op = Op::conv, .out = out, .stride = stride}; }
SubnetLayer up(std::int64_t out) { return {.op = Op::up, .out = out}; }
SubnetLayer shuffle(std::int64_t factor) { return {.op = Op::shuffle, .factor = factor}; }

SubnetConfig sequential(std::vector<SubnetLayer> layers) {
  return {.kind = SubnetConfig::Kind::sequential, .layers = std::move(layers)};
}

SubnetConfig hourglass(std::int64_t width) {
  return sequential({conv(width), conv(width), conv(2 * width, 2), conv(2 * width), up(width), conv(0)});
}

SubnetConfig pointwise(std::initializer_list<std::int64_t> hidden) {
  std::vector<SubnetLayer> layers;
  for (const auto channels : hidden) layers.push_back({.op = Op::conv, .out = channels, .kernel = 1});
  layers.push_back({.op = Op::conv, .out = 0, .kernel = 1});
  return sequential(std::move(layers));
}

SubnetConfig with_tanh(SubnetConfig net) {
  net.output = SubnetConfig::Output::tanh;
  return net;
}

// The reference bounds t and r by tanh, and its Cayley system carries an ε.
SurjectionBlockConfig reference_block(std::int64_t out, const SubnetConfig& st, const SubnetConfig& r) {
  return {.out = out, .scale_bound = 2.0, .mix = {.epsilon = 1e-6}, .s = st, .t = with_tanh(st), .r = with_tanh(r)};
}

UnshuffleBlockConfig unshuffle(std::int64_t factor) { return {factor, factor}; }

SurjectionBlockConfig reference_head() {
  return reference_block(40, pointwise({512, 256, 128}), pointwise({128, 256, 512}));
}

// 16→32 at 8², seen at 32² by s and t.
SurjectionBlockConfig reference_middle() {
  return reference_block(32, sequential({shuffle(4), conv(32), conv(128), conv(256, 2), conv(512), conv(512, 2), conv(0)}),
                         sequential({conv(512), conv(256), conv(128), conv(64), conv(0)}));
}

// 1024→1024 at 1², seen at 8².
SurjectionBlockConfig reference_bottleneck() {
  const auto net =
      sequential({shuffle(8), conv(128), conv(256), conv(512, 2), conv(512), conv(1024, 2), conv(0, 2)});
  return reference_block(1024, net, net);
}

SpnnConfig reference_32() {
  return {.name = "reference-32", .input = {3, 32, 32},
          .blocks = {unshuffle(4), reference_middle(), unshuffle(8), reference_bottleneck(), reference_head()},
          .r_sets = {}};
}

SpnnConfig reference_64() {
  const auto first = sequential({conv(64), conv(128, 2), conv(128), up(64), conv(0)});
  const auto second = sequential({conv(64), conv(64), conv(64), conv(0)});
  return {.name = "reference-64", .input = {3, 64, 64},
          .blocks = {unshuffle(2), reference_block(6, first, first), reference_block(3, second, second), unshuffle(4),
                     reference_middle(), unshuffle(8), reference_bottleneck(), reference_head()},
          .r_sets = {}};
}

SpnnConfig reference_256() {
  return {.name = "reference-256", .input = {3, 256, 256},
          .blocks = {unshuffle(4), reference_block(12, hourglass(128), hourglass(128)),
                     unshuffle(4), reference_block(48, hourglass(256), hourglass(256)),
                     unshuffle(4), reference_block(192, hourglass(512), hourglass(512)),
                     unshuffle(4), reference_block(1024, pointwise({2048, 1536}), pointwise({1536, 2048})),
                     reference_head()},
          .r_sets = {}};
}

// ------------------------------------------------------------------ ours

struct Level {
  std::int64_t out;
  std::int64_t kernel;
  std::int64_t st_hidden;   // one residual trunk for s and t: all discriminative power comes from them
  std::int64_t r_hidden;
};

SurjectionBlockConfig our_block(const Level& level) {
  using Kind = SubnetConfig::Kind;
  using Activation = SubnetConfig::Activation;
  SurjectionBlockConfig block;
  block.out = level.out;
  block.scale_bound = 0.5;   // e^½ a level at most: with e² the pseudo-inverse of a trained stack leaves its images
  block.s = {.kind = Kind::residual, .hidden = level.st_hidden, .depth = 1, .kernel = level.kernel, .norm = true,
             .activation = Activation::silu, .layers = {}};
  block.r = {.kind = Kind::conv, .hidden = level.r_hidden, .depth = 3, .kernel = level.kernel,
             .activation = Activation::silu, .layers = {}};
  return block;
}

SpnnConfig faces_64(const char* name, const std::array<std::int64_t, 5>& r_hidden) {
  return {.name = name, .input = {3, 64, 64},
          .blocks = {unshuffle(4), our_block({.out = 24, .kernel = 3, .st_hidden = 32, .r_hidden = r_hidden[0]}),
                     unshuffle(2), our_block({.out = 48, .kernel = 3, .st_hidden = 96, .r_hidden = r_hidden[1]}),
                     unshuffle(2), our_block({.out = 96, .kernel = 3, .st_hidden = 192, .r_hidden = r_hidden[2]}),
                     unshuffle(2), our_block({.out = 64, .kernel = 3, .st_hidden = 224, .r_hidden = r_hidden[3]}),
                     unshuffle(2), our_block({.out = 40, .kernel = 1, .st_hidden = 256, .r_hidden = r_hidden[4]})},
          .r_sets = {}};
}

SpnnConfig celebahq64() { return faces_64("celebahq64", {32, 48, 96, 128, 256}); }

// What a move looks like is what r predicts: phase III goes on with wider nets r, from the weights of the narrow ones.
SpnnConfig celebahq64_wide() { return faces_64("celebahq64-wide", {64, 96, 128, 128, 256}); }

// For moves that look like photos: cells overlap at every level, so that no level has a grid; s, t and r are wide where details are, and r is
// as deep as s and t, because what a move shows of a beard or of glasses is what r predicts.
SurjectionBlockConfig natural_block(const Level& level) {
  auto block = our_block(level);
  block.r = block.s;
  block.r.hidden = level.r_hidden;
  block.r.norm = false;   // a norm would make what is predicted here depend on what is changed elsewhere
  return block;
}

SpnnConfig celebahq64_natural() {
  return {.name = "celebahq64-natural", .input = {3, 64, 64},
          .blocks = {LappedBlockConfig{.factor = 4, .colour = true}, natural_block({.out = 24, .kernel = 3, .st_hidden = 64, .r_hidden = 64}),
                     LappedBlockConfig{.factor = 2}, natural_block({.out = 48, .kernel = 3, .st_hidden = 96, .r_hidden = 64}),
                     LappedBlockConfig{.factor = 2}, natural_block({.out = 96, .kernel = 3, .st_hidden = 192, .r_hidden = 96}),
                     LappedBlockConfig{.factor = 2}, natural_block({.out = 64, .kernel = 3, .st_hidden = 224, .r_hidden = 128}),
                     LappedBlockConfig{.factor = 2}, natural_block({.out = 40, .kernel = 1, .st_hidden = 256, .r_hidden = 256})},
          .r_sets = {}};
}

SpnnConfig fashion() {
  return {.name = "fashion", .input = {1, 32, 32},
          .blocks = {unshuffle(2), our_block({.out = 2, .kernel = 3, .st_hidden = 32, .r_hidden = 16}),
                     unshuffle(2), our_block({.out = 6, .kernel = 3, .st_hidden = 64, .r_hidden = 32}),
                     unshuffle(2), our_block({.out = 16, .kernel = 3, .st_hidden = 128, .r_hidden = 64}),
                     unshuffle(4), our_block({.out = 10, .kernel = 1, .st_hidden = 256, .r_hidden = 256})},
          .r_sets = {}};
}

struct Preset {
  std::string_view name;
  SpnnConfig (*make)();
};

constexpr std::array presets = {Preset{"reference-32", reference_32}, Preset{"reference-64", reference_64},
                                Preset{"reference-256", reference_256}, Preset{"celebahq64", celebahq64},
                                Preset{"celebahq64-wide", celebahq64_wide},
                                Preset{"celebahq64-natural", celebahq64_natural},
                                Preset{"fashion", fashion}};

constexpr auto preset_names = [] {
  std::array<std::string_view, presets.size()> names;
  for (std::size_t i = 0; i < presets.size(); ++i) names[i] = presets[i].name;
  return names;
}();

}  // namespace

std::span<const std::string_view> spnn_preset_names() { return preset_names; }

SpnnConfig spnn_preset(std::string_view name, std::int64_t outputs) {
  for (const auto& preset : presets) {
    if (preset.name == name) return outputs == 0 ? preset.make() : with_outputs(preset.make(), outputs);
  }
  fail("preset", fmt::format("one of {}", fmt::join(preset_names, ", ")), fmt::format("'{}'", name));
}

}  // namespace spnn
