#include <spnn/core/errors.h>
#include <spnn/networks/presets.h>
#include <spnn/training/spnn_recipe.h>

namespace spnn {

SpnnConfig recipe_network(const Json& said) {
  return said.is_string() ? spnn_preset(said.get<std::string>()) : spnn_from_json(said, "network");
}

std::shared_ptr<Spnn> network_for(const Dataset& train, const SpnnConfig& config, const Rng& rng) {
  auto net = std::make_shared<Spnn>(config);
  const auto labels = static_cast<std::int64_t>(train.attributes.size());
  require_shape(train.images, net->in_shape(), "the training images");
  require(net->out_shape().size() == labels, "the network's outputs", fmt::format("{}, as the data set has labels", labels), to_string(net->out_shape()));
  initialise_spnn(*net, rng);
  return net;
}

std::map<std::string, std::string> spnn_metadata(const Spnn& net, const Dataset& labelled, Task task, const Json& recipe, const GuidanceWindows& guidance) {
  std::map<std::string, std::string> metadata{{"kind", "spnn"},
                                              {"architecture", to_json(net.config()).dump()},
                                              {"attributes", Json(labelled.attributes).dump()},
                                              {"task", std::string(to_string(task))},
                                              {"recipe", recipe.dump()}};
  if (!guidance.empty()) metadata["guidance"] = to_json(guidance).dump();
  return metadata;
}

}  // namespace spnn
