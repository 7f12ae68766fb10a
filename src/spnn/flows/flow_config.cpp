#include <spnn/core/json_fields.h>
#include <spnn/flows/flow_config.h>

#include <algorithm>
#include <array>

namespace spnn {
namespace {

using Coupling = FlowConfig::Coupling;
using Mix = FlowConfig::Mix;
using Discard = FlowConfig::Discard;
using Between = FlowConfig::Between;

constexpr std::array kCouplings = {Named{Coupling::additive, "additive"}, Named{Coupling::affine, "affine"}, Named{Coupling::spline, "spline"}};
constexpr std::array kMixes = {Named{Mix::none, "none"}, Named{Mix::cayley, "cayley"}, Named{Mix::householder, "householder"}, Named{Mix::lu, "lu"}};
constexpr std::array kDiscards = {Named{Discard::none, "none"}, Named{Discard::gaussian, "gaussian"}, Named{Discard::conditional, "conditional"}};
constexpr std::array kBetweens = {Named{Between::squeeze, "squeeze"}, Named{Between::max_pool, "max-pool"}};

FlowConfig nice() {
  return {.name = "nice", .coupling = Coupling::additive, .mix = Mix::none, .act_norm = false, .discard = Discard::none,
          .diagonal = true};
}
FlowConfig realnvp() { return {.name = "realnvp", .mix = Mix::none, .discard = Discard::gaussian}; }
FlowConfig glow() { return {.name = "glow"}; }
FlowConfig survae() { return {.name = "survae-maxpool", .between = Between::max_pool}; }
FlowConfig spline() { return {.name = "spline", .coupling = Coupling::spline}; }

FlowConfig preset(const std::string& name) {
  for (const auto& make : {nice, realnvp, glow, survae, spline}) {
    if (auto config = make(); config.name == name) return config;
  }
  fail("flow.preset", "one of nice, realnvp, glow, survae-maxpool, spline", "'" + name + "'");
}

void check(const FlowConfig& c) {
  require(c.bits >= 1 && c.bits <= 8, "flow.bits", "1 to 8", std::to_string(c.bits));
  require(c.border >= 0 && c.augment >= 0, "flow", "border and augment of 0 or more",
          fmt::format("{} and {}", c.border, c.augment));
  require(c.squeeze > 0, "flow.squeeze", "a positive factor", std::to_string(c.squeeze));
  require(c.scale_bound > 0, "flow.scale_bound", "a positive number", fmt::format("{}", c.scale_bound));
  require(c.spline_pieces > 1 && c.spline_bound > 0, "flow", "spline_pieces of 2 or more and a positive spline_bound",
          fmt::format("{} and {}", c.spline_pieces, c.spline_bound));
  const auto positive = [](const auto& list) { return std::ranges::all_of(list, [](auto n) { return n > 0; }); };
  require(!c.steps.empty() && c.steps.size() == c.hidden.size() && positive(c.steps) && positive(c.hidden), "flow",
          "as many hidden as steps, one a scale, all positive",
          fmt::format("{} and {}", c.hidden.size(), c.steps.size()));
}

}  // namespace

void to_json(Json& json, const FlowConfig& c) {
  json = {{"name", c.name}, {"input", {c.input.channels, c.input.height, c.input.width}}, {"bits", c.bits},
          {"border", c.border}, {"augment", c.augment}, {"squeeze", c.squeeze}, {"steps", c.steps},
          {"hidden", c.hidden}, {"coupling", name_of(kCouplings, c.coupling)}, {"scale_bound", c.scale_bound},
          {"spline_pieces", c.spline_pieces}, {"spline_bound", c.spline_bound},
          {"mix", name_of(kMixes, c.mix)}, {"act_norm", c.act_norm}, {"discard", name_of(kDiscards, c.discard)},
          {"between", name_of(kBetweens, c.between)}, {"diagonal", c.diagonal}};
}

void from_json(const Json& json, FlowConfig& c) {
  JsonFields fields(json, "flow");
  std::string base;
  fields.optional("preset", base);
  if (!base.empty()) c = preset(base);
  std::vector<std::int64_t> input;
  fields.required("input", input)
      .optional("name", c.name).optional("bits", c.bits).optional("border", c.border).optional("augment", c.augment)
      .optional("squeeze", c.squeeze).optional("steps", c.steps).optional("hidden", c.hidden)
      .word("coupling", kCouplings, c.coupling)
      .optional("scale_bound", c.scale_bound).optional("spline_pieces", c.spline_pieces).optional("spline_bound", c.spline_bound)
      .word("mix", kMixes, c.mix)
      .optional("act_norm", c.act_norm)
      .word("discard", kDiscards, c.discard)
      .word("between", kBetweens, c.between)
      .optional("diagonal", c.diagonal)
      .no_others();
  require(input.size() == 3, "flow.input", "[channels, height, width]", Json(input).dump());
  c.input = {input[0], input[1], input[2]};
  check(c);
}

}  // namespace spnn
