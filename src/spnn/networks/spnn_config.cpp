#include <spnn/core/json_fields.h>
#include <spnn/networks/spnn_config.h>

#include <algorithm>
#include <array>
#include <ranges>

namespace spnn {
namespace {

constexpr std::array kMixKinds = {Named{MixConfig::Kind::cayley, "cayley"}, Named{MixConfig::Kind::householder, "householder"}};
constexpr std::array kLineAxes = {Named{LinesBlockConfig::Axis::rows, "rows"}, Named{LinesBlockConfig::Axis::columns, "columns"}};
constexpr std::array kCouplingKinds = {Named{CouplingBlockConfig::Kind::affine, "affine"}, Named{CouplingBlockConfig::Kind::additive, "additive"}};

Json to_json(const MixConfig& mix) {
  Json json{{"kind", name_of(kMixKinds, mix.kind)}};
  if (mix.kind == MixConfig::Kind::householder) json["reflections"] = mix.reflections;
  else json["epsilon"] = mix.epsilon;
  return json;
}

MixConfig mix_from_json(const Json& json, const std::string& where) {
  using Kind = MixConfig::Kind;
  JsonFields fields(json, where);
  MixConfig mix;
  fields.word("kind", kMixKinds, mix.kind);
  if (mix.kind == Kind::cayley) fields.optional("epsilon", mix.epsilon);
  if (mix.kind == Kind::householder) fields.optional("reflections", mix.reflections);
  fields.no_others();
  return mix;
}

struct ToJson {
  Json operator()(const UnshuffleBlockConfig& c) const {
    Json json{{"kind", "unshuffle"}};
    json["factor"] = c.factor_h == c.factor_w ? Json(c.factor_h) : Json{c.factor_h, c.factor_w};
    return json;
  }

  Json operator()(const LappedBlockConfig& c) const { return {{"kind", "lapped"}, {"factor", c.factor}, {"colour", c.colour}}; }

  Json operator()(const SurjectionBlockConfig& c) const {
    Json json{{"kind", "surjection"}, {"out", c.out}, {"scale_bound", c.scale_bound}, {"mix", to_json(c.mix)}};
    json[c.t ? "s" : "st"] = spnn::to_json(c.s);
    if (c.t) json["t"] = spnn::to_json(*c.t);
    json["r"] = spnn::to_json(c.r);
    return json;
  }

  Json operator()(const CouplingBlockConfig& c) const {
    const bool affine = c.kind == CouplingBlockConfig::Kind::affine;
    Json json{{"kind", name_of(kCouplingKinds, c.kind)}, {"mix", to_json(c.mix)}};
    if (c.moved != 0) json["moved"] = c.moved;
    if (affine) json["scale_bound"] = c.scale_bound;
    if (affine) json[c.t ? "s" : "st"] = spnn::to_json(c.s);
    if (c.t) json["t"] = spnn::to_json(*c.t);
    return json;
  }

  Json operator()(const CurveBlockConfig& c) const { return {{"kind", "curve"}, {"pieces", c.pieces}, {"slope_bound", c.slope_bound}}; }

  Json operator()(const LinesBlockConfig& c) const {
    return {{"kind", "lines"}, {"axis", name_of(kLineAxes, c.axis)}, {"colours", c.colours}, {"gain_bound", c.gain_bound}};
  }
};

UnshuffleBlockConfig unshuffle_from_json(JsonFields& fields) {
  const auto& factor = fields.at("factor");
  if (factor.is_array()) {
    std::vector<std::int64_t> pair;
    fields.required("factor", pair);
    require(pair.size() == 2, fields.path("factor"), "a number or [height, width]", factor.dump());
    return {pair[0], pair[1]};
  }
  std::int64_t both = 0;
  fields.required("factor", both);
  return {both, both};
}

// s and t, or st for both.
void coupling_nets_from_json(JsonFields& fields, SubnetConfig& s, std::optional<SubnetConfig>& t) {
  if (fields.has("st")) {
    s = subnet_from_json(fields.at("st"), fields.path("st"));
  } else {
    s = subnet_from_json(fields.at("s"), fields.path("s"));
    t = subnet_from_json(fields.at("t"), fields.path("t"));
  }
}

SurjectionBlockConfig surjection_from_json(JsonFields& fields) {
  SurjectionBlockConfig c;
  fields.required("out", c.out).optional("scale_bound", c.scale_bound);
  if (fields.has("mix")) c.mix = mix_from_json(fields.at("mix"), fields.path("mix"));
  coupling_nets_from_json(fields, c.s, c.t);
  c.r = subnet_from_json(fields.at("r"), fields.path("r"));
  return c;
}

CouplingBlockConfig coupling_from_json(JsonFields& fields, CouplingBlockConfig::Kind kind) {
  CouplingBlockConfig c{.kind = kind, .mix = {}, .s = {}, .t = {}};
  fields.optional("moved", c.moved);
  if (fields.has("mix")) c.mix = mix_from_json(fields.at("mix"), fields.path("mix"));
  if (kind == CouplingBlockConfig::Kind::affine) {
    fields.optional("scale_bound", c.scale_bound);
    coupling_nets_from_json(fields, c.s, c.t);
  } else {
    c.t = subnet_from_json(fields.at("t"), fields.path("t"));
  }
  return c;
}

BlockConfig block_from_json(const Json& json, const std::string& where) {
  JsonFields fields(json, where);
  std::string kind;
  fields.required("kind", kind);
  BlockConfig block;
  if (kind == "unshuffle") {
    block = unshuffle_from_json(fields);
  } else if (kind == "lapped") {
    LappedBlockConfig lapped;
    fields.required("factor", lapped.factor).optional("colour", lapped.colour);
    block = lapped;
  } else if (kind == "surjection") {
    block = surjection_from_json(fields);
  } else if (std::ranges::any_of(kCouplingKinds, [&](const auto& known) { return known.name == kind; })) {
    block = coupling_from_json(fields, value_named(kCouplingKinds, kind, fields.path("kind")));
  } else if (kind == "curve") {
    CurveBlockConfig curve;
    fields.optional("pieces", curve.pieces).optional("slope_bound", curve.slope_bound);
    block = curve;
  } else if (kind == "lines") {
    LinesBlockConfig lines;
    fields.word("axis", kLineAxes, lines.axis);
    fields.optional("colours", lines.colours).optional("gain_bound", lines.gain_bound);
    block = lines;
  } else {
    fail(fields.path("kind"), fmt::format("one of unshuffle, lapped, surjection, {}, curve, lines", names_of(kCouplingKinds)), "'" + kind + "'");
  }
  fields.no_others();
  return block;
}

}  // namespace

Json to_json(const SpnnConfig& config) {
  Json json{{"name", config.name}, {"blocks", Json::array()}};
  json["input"] = {config.input.channels, config.input.height, config.input.width};
  for (const auto& block : config.blocks) json["blocks"].push_back(std::visit(ToJson{}, block));
  if (!config.r_sets.empty()) json["r_sets"] = config.r_sets;
  return json;
}

SpnnConfig spnn_from_json(const Json& json, const std::string& where) {
  JsonFields fields(json, where);
  SpnnConfig config;
  std::vector<std::int64_t> input;
  fields.optional("name", config.name).required("input", input).optional("r_sets", config.r_sets);
  require(input.size() == 1 || input.size() == 3, fields.path("input"), "[channels, height, width] or [size]",
          fields.at("input").dump());
  config.input = input.size() == 1 ? Shape{input[0], 1, 1} : Shape{input[0], input[1], input[2]};
  const auto& blocks = fields.at("blocks");
  require(blocks.is_array() && !blocks.empty(), fields.path("blocks"), "a list of blocks", blocks.dump());
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    config.blocks.push_back(block_from_json(blocks[b], fmt::format("{}.blocks[{}]", where, b)));
  }
  fields.no_others();
  return config;
}

SpnnConfig with_outputs(SpnnConfig config, std::int64_t outputs) {
  std::int64_t each = 1;   // outputs that a channel of the last surjection becomes, where pixels are folded into channels after it
  for (auto& block : std::views::reverse(config.blocks)) {
    if (const auto* unshuffle = std::get_if<UnshuffleBlockConfig>(&block)) each *= unshuffle->factor_h * unshuffle->factor_w;
    if (auto* surjection = std::get_if<SurjectionBlockConfig>(&block)) {
      require(each > 0 && outputs % each == 0, "with_outputs", fmt::format("a multiple of the {} places of the last map", each), std::to_string(outputs));
      surjection->out = outputs / each;
      return config;
    }
  }
  fail("with_outputs", "a network with a surjection", "none");
}

}  // namespace spnn
