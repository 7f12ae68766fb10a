#include <spnn/core/json_fields.h>
#include <spnn/networks/subnet_config.h>

#include <array>

namespace spnn {
namespace {

using Kind = SubnetConfig::Kind;
using Activation = SubnetConfig::Activation;
using Output = SubnetConfig::Output;
using Op = SubnetLayer::Op;

constexpr std::array kSubnetKinds = {Named{Kind::sequential, "sequential"}, Named{Kind::conv, "conv"}, Named{Kind::residual, "residual"}};
constexpr std::array kActivations = {Named{Activation::relu, "relu"}, Named{Activation::silu, "silu"}};
constexpr std::array kSubnetOutputs = {Named{Output::linear, "linear"}, Named{Output::tanh, "tanh"}};
constexpr std::array kLayerOps = {Named{Op::conv, "conv"}, Named{Op::up, "up"}, Named{Op::shuffle, "shuffle"}};

SubnetLayer layer_from_json(const Json& json, const std::string& where) {
  JsonFields fields(json, where);
  SubnetLayer layer;
  fields.word("op", kLayerOps, layer.op);
  if (layer.op == Op::shuffle) fields.required("factor", layer.factor);
  if (layer.op != Op::shuffle) fields.optional("out", layer.out);
  if (layer.op == Op::conv) fields.optional("kernel", layer.kernel).optional("stride", layer.stride);
  fields.no_others();
  return layer;
}

Json to_json(const SubnetLayer& layer) {
  Json json{{"op", name_of(kLayerOps, layer.op)}};
  if (layer.op == Op::shuffle) {
    json["factor"] = layer.factor;
    return json;
  }
  if (layer.out != 0) json["out"] = layer.out;
  if (layer.kernel != 3) json["kernel"] = layer.kernel;
  if (layer.stride != 1) json["stride"] = layer.stride;
  return json;
}

}  // namespace

Json to_json(const SubnetConfig& c) {
  Json json{{"kind", name_of(kSubnetKinds, c.kind)}};
  if (c.kind == Kind::sequential) {
    json["layers"] = Json::array();
    for (const auto& layer : c.layers) json["layers"].push_back(to_json(layer));
  } else {
    json["hidden"] = c.hidden;
    json["depth"] = c.depth;
    json["kernel"] = c.kernel;
    if (c.kind == Kind::residual) json["norm"] = c.norm;
  }
  json["activation"] = name_of(kActivations, c.activation);
  json["output"] = name_of(kSubnetOutputs, c.output);
  return json;
}

SubnetConfig subnet_from_json(const Json& json, const std::string& where) {
  JsonFields fields(json, where);
  SubnetConfig c;
  fields.word("kind", kSubnetKinds, c.kind)
      .word("activation", kActivations, c.activation)
      .word("output", kSubnetOutputs, c.output);
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
