#include <spnn/networks/json_fields.h>
#include <spnn/networks/subnet_config.h>

namespace spnn {
namespace {

using Kind = SubnetConfig::Kind;
using Activation = SubnetConfig::Activation;
using Output = SubnetConfig::Output;
using Op = SubnetLayer::Op;

SubnetLayer layer_from_json(const Json& json, const std::string& where) {
  JsonFields fields(json, where);
  SubnetLayer layer;
  layer.op = fields.word("op", {{"conv", Op::conv}, {"up", Op::up}, {"shuffle", Op::shuffle}}, Op::conv);
  if (layer.op == Op::shuffle) {
    layer.factor = fields.get<std::int64_t>("factor");
  } else {
    layer.out = fields.get<std::int64_t>("out", 0);
  }
  if (layer.op == Op::conv) {
    layer.kernel = fields.get<std::int64_t>("kernel", 3);
    layer.stride = fields.get<std::int64_t>("stride", 1);
  }
  fields.done();
  return layer;
}

Json to_json(const SubnetLayer& layer) {
  if (layer.op == Op::shuffle) return {{"op", "shuffle"}, {"factor", layer.factor}};
  Json json{{"op", layer.op == Op::conv ? "conv" : "up"}};
  if (layer.out != 0) json["out"] = layer.out;
  if (layer.kernel != 3) json["kernel"] = layer.kernel;
  if (layer.stride != 1) json["stride"] = layer.stride;
  return json;
}

}  // namespace

Json to_json(const SubnetConfig& c) {
  Json json;
  if (c.kind == Kind::sequential) {
    json["kind"] = "sequential";
    json["layers"] = Json::array();
    for (const auto& layer : c.layers) json["layers"].push_back(to_json(layer));
  } else {
    json["kind"] = c.kind == Kind::conv ? "conv" : "residual";
    json["hidden"] = c.hidden;
    json["depth"] = c.depth;
    json["kernel"] = c.kernel;
    if (c.kind == Kind::residual) json["norm"] = c.norm;
  }
  json["activation"] = c.activation == Activation::relu ? "relu" : "silu";
  json["output"] = c.output == Output::linear ? "linear" : "tanh";
  return json;
}

SubnetConfig subnet_from_json(const Json& json, const std::string& where) {
  JsonFields fields(json, where);
  SubnetConfig c;
  c.kind = fields.word("kind", {{"sequential", Kind::sequential}, {"conv", Kind::conv}, {"residual", Kind::residual}},
                       Kind::conv);
  if (c.kind == Kind::sequential) {
    const auto& layers = fields.at("layers");
    require(layers.is_array() && !layers.empty(), fields.path("layers"), "a list of layers", layers.dump());
    for (std::size_t i = 0; i < layers.size(); ++i) {
      c.layers.push_back(layer_from_json(layers[i], fmt::format("{}[{}]", fields.path("layers"), i)));
    }
  } else {
    c.hidden = fields.get<std::int64_t>("hidden", c.hidden);
    c.depth = fields.get<std::int64_t>("depth", c.depth);
    c.kernel = fields.get<std::int64_t>("kernel", c.kernel);
    if (c.kind == Kind::residual) c.norm = fields.get<bool>("norm", false);
  }
  c.activation = fields.word("activation", {{"relu", Activation::relu}, {"silu", Activation::silu}}, c.activation);
  c.output = fields.word("output", {{"linear", Output::linear}, {"tanh", Output::tanh}}, c.output);
  fields.done();
  return c;
}

}  // namespace spnn
