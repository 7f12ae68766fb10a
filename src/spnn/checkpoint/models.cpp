#include <spnn/checkpoint/layout.h>
#include <spnn/checkpoint/models.h>
#include <spnn/checkpoint/module_state.h>
#include <spnn/core/errors.h>

namespace spnn {
namespace {

OutputInfo outputs_of(const ModelFile& content, std::int64_t count, const std::filesystem::path& file) {
  OutputInfo info;
  const auto& meta = content.metadata;
  if (meta.contains("task")) info.task = meta.at("task");
  if (meta.contains("attributes")) info.names = Json::parse(meta.at("attributes")).get<std::vector<std::string>>();
  require(info.names.empty() || std::ssize(info.names) == count, file.string(), fmt::format("{} output names", count),
          fmt::format("{}", info.names.size()));
  return info;
}

Tensor take(std::map<std::string, Tensor>& tensors, const std::string& name) {
  const auto node = tensors.extract(name);
  return node.empty() ? Tensor() : node.mapped().to(torch::kFloat64);
}

void freeze(torch::nn::Module& net) {
  for (auto& parameter : net.parameters()) parameter.requires_grad_(false);
  net.eval();
}

}  // namespace

SpnnModel load_spnn(const std::filesystem::path& file) {
  auto content = read_model(file, "spnn");
  SpnnModel model;
  model.mean = take(content.tensors, "statistics.mean");
  model.covariance = take(content.tensors, "statistics.covariance");
  model.exemplars = take(content.tensors, "statistics.exemplars");
  model.net = std::make_shared<Spnn>(spnn_from_json(content.layout.architecture, file.string()));
  load_into(*model.net, content.tensors, file.string());
  freeze(*model.net);
  model.outputs = outputs_of(content, model.net->out_shape().size(), file);
  model.windows = guidance_windows_in(content.metadata, file.string());
  return model;
}

JudgeModel load_judge(const std::filesystem::path& file) {
  const auto content = read_model(file, "judge");
  JudgeModel model;
  model.net = std::make_shared<Judge>(content.layout.architecture.get<JudgeConfig>());
  load_into(*model.net, content.tensors, file.string());
  freeze(*model.net);
  model.outputs = outputs_of(content, model.net->config().outputs, file);
  return model;
}

}  // namespace spnn
