#include <spnn/checkpoint/layout.h>
#include <spnn/checkpoint/models.h>
#include <spnn/checkpoint/module_state.h>
#include <spnn/checkpoint/tensor_checks.h>
#include <spnn/core/config.h>
#include <spnn/core/errors.h>
#include <spnn/core/json_text.h>

#include <algorithm>
#include <tuple>

namespace spnn {
namespace {

bool are_names(const Json& json) {
  return json.is_array() && std::ranges::all_of(json, [](const Json& name) { return name.is_string(); });
}

std::vector<std::string> names_from(const std::string& text, const std::string& where) {
  const auto json = parse_json(text, where + ": attributes");
  require(are_names(json), where, "the metadata 'attributes' as a list of names", excerpt(json));
  return json.get<std::vector<std::string>>();
}

std::vector<std::vector<std::string>> groups_from(const std::string& text, const std::string& where) {
  const auto json = parse_json(text, where + ": exclusive");
  require(json.is_array() && std::ranges::all_of(json, are_names), where, "the metadata 'exclusive' as lists of names", excerpt(json));
  return json.get<std::vector<std::vector<std::string>>>();
}

OutputInfo outputs_of(const ModelFile& content, std::int64_t count, const std::filesystem::path& file) {
  OutputInfo info;
  const auto& meta = content.metadata;
  if (meta.contains("task")) info.task = meta.at("task");
  if (meta.contains("attributes")) info.names = names_from(meta.at("attributes"), file.string());
  if (meta.contains("exclusive")) info.exclusive = groups_from(meta.at("exclusive"), file.string());
  require(info.names.empty() || std::ssize(info.names) == count, file.string(), fmt::format("{} output names", count),
          fmt::format("{}", info.names.size()));
  return info;
}

Tensor take(std::map<std::string, Tensor>& tensors, const std::string& name) {
  const auto node = tensors.extract(name);
  return node.empty() ? Tensor() : node.mapped().to(torch::kFloat64);
}

void require_statistics(const SpnnModel& model, std::int64_t A, const std::string& where) {
  const auto check = [&](const Tensor& tensor, const char* name, bool right) {
    if (!tensor.defined()) return;
    require(right, where, fmt::format("statistics.{} of {} outputs", name, A), to_string(tensor.sizes()));
    require_finite(tensor, fmt::format("{}: statistics.{}", where, name));
  };
  const auto& [mean, S, rows] = std::tie(model.mean, model.covariance, model.exemplars);
  check(mean, "mean", mean.defined() && mean.dim() == 1 && mean.size(0) == A);
  check(S, "covariance", S.defined() && S.dim() == 2 && S.size(0) == A && S.size(1) == A);
  check(rows, "exemplars", rows.defined() && rows.dim() == 2 && rows.size(1) == A && rows.size(0) > 0);
  const auto& places = model.places;
  check(places, "places", places.defined() && places.dim() == 3 && places.size(0) == A && places.numel() > 0);
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
  model.places = take(content.tensors, "statistics.places");
  {
    const TensorBudget budget(content.tensors, file.string());
    model.net = std::make_shared<Spnn>(spnn_from_json(content.layout.architecture, file.string()));
  }
  load_into(*model.net, content.tensors, file.string());
  freeze(*model.net);
  const auto A = model.net->out_shape().size();
  require_statistics(model, A, file.string());
  model.outputs = outputs_of(content, A, file);
  model.windows = guidance_windows_in(content.metadata, file.string());
  return model;
}

JudgeModel load_judge(const std::filesystem::path& file) {
  const auto content = read_model(file, "judge");
  JudgeModel model;
  {
    const TensorBudget budget(content.tensors, file.string());
    model.net = std::make_shared<Judge>(content.layout.architecture.get<JudgeConfig>());
  }
  load_into(*model.net, content.tensors, file.string());
  freeze(*model.net);
  model.outputs = outputs_of(content, model.net->config().outputs, file);
  return model;
}

std::shared_ptr<Identity> load_identity(const std::filesystem::path& file) {
  const auto content = read_model(file, "identity");
  std::shared_ptr<Identity> net;
  {
    const TensorBudget budget(content.tensors, file.string());
    net = std::make_shared<Identity>(content.layout.architecture.get<JudgeConfig>());
  }
  load_into(*net, content.tensors, file.string());
  freeze(*net);
  return net;
}

}  // namespace spnn
