#include <spnn/core/json_fields.h>
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
  fields.word("op", {{"conv", Op::conv}, {"up", Op::up}, {"shuffle", Op::shuffle}}, layer.op);
  if (layer.op == Op::shuffle) fields.required("factor", layer.factor);
  if (layer.op != Op::shuffle) fields.optional("out", layer.out);
  if (layer.op == Op::conv) fields.optional("kernel", layer.kernel).optional("stride", layer.stride);
  fields.no_others();
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
  fields.word("kind", {{"sequential", Kind::sequential}, {"conv", Kind::conv}, {"residual", Kind::residual}}, c.kind)
      .word("activation", {{"relu", Activation::relu}, {"silu", Activation::silu}}, c.activation)
      .word("output", {{"linear", Output::linear}, {"tanh", Output::tanh}}, c.output);
  if (c.kind == Kind::sequential) {
    const auto& layers = fields.at("layers");
    require(layers.is_array() && !layers.empty(), fields.path("layers"), "a list of layers", layers.dump());
    for (std::size_t i = 0; i < layers.size(); ++i) {
      c.layers.push_back(layer_from_json(layers[i], fmt::format("{}[{}]", fields.path("layers"), i)));
    }
  } else {
    fields.optional("hidden", c.hidden).optional("depth", c.depth).optional("kernel", c.kernel);
  }
  if (c.kind == Kind::residual) fields.optional("norm", c.norm);
  fields.no_others();
  return c;
}

}  // namespace spnn
