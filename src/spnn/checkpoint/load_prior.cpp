#include <spnn/checkpoint/layout.h>
#include <spnn/checkpoint/module_state.h>
#include <spnn/checkpoint/tensor_checks.h>
#include <spnn/core/errors.h>
#include <spnn/core/json_fields.h>
#include <spnn/core/json_text.h>
#include <spnn/checkpoint/load_prior.h>

namespace spnn {
namespace {

constexpr std::string_view kWeakPrefix = "weak.";   // of the tensors of a weak prior in the good one's file

Json parsed(const std::string& text, const std::string& where) {
  auto json = parse_json(text, where);
  require(json.is_object(), where, "a table of settings", "something else");
  return json;
}

using Tensors = std::map<std::string, Tensor>;

Tensors take_weak(Tensors& tensors) {
  Tensors weak;
  for (auto item = tensors.lower_bound(std::string(kWeakPrefix)); item != tensors.end() && item->first.starts_with(kWeakPrefix);) {
    weak[item->first.substr(kWeakPrefix.size())] = std::move(item->second);
    item = tensors.erase(item);
  }
  return weak;
}

// A weak prior need not be exact: its weights are stored in eight bits and a scale for each output channel.
constexpr std::string_view kScaleSuffix = ".scale";

Tensors in_eight_bits(const Tensors& tensors) {
  Tensors out;
  for (const auto& [name, tensor] : tensors) {
    if (tensor.dim() < 2) {
      out[name] = tensor;
      continue;
    }
    const auto rows = tensor.to(torch::kFloat32).flatten(1);
    const auto scale = std::get<0>(rows.abs().max(1)).clamp_min(1e-6) / 127;
    out[name] = (rows / scale.unsqueeze(1)).round().to(torch::kInt8).view(tensor.sizes());
    out[name + std::string(kScaleSuffix)] = scale;
  }
  return out;
}

Tensors from_eight_bits(const Tensors& tensors, const std::string& where) {
  Tensors out;
  for (const auto& [name, tensor] : tensors) {
    if (name.ends_with(kScaleSuffix)) continue;
    out[name] = tensor;
    if (tensor.scalar_type() != torch::kInt8) continue;
    const auto scale = tensors.find(name + std::string(kScaleSuffix));
    require(tensor.dim() >= 2 && scale != tensors.end() && scale->second.numel() == tensor.size(0), where, "a scale for every output channel of " + name,
            scale == tensors.end() ? "none" : std::to_string(scale->second.numel()));
    out[name] = (tensor.to(torch::kFloat32).flatten(1) * scale->second.to(torch::kFloat32).view({-1, 1})).view(tensor.sizes());
  }
  return out;
}

std::shared_ptr<UNetDenoiser> denoiser_of(const Tensors& tensors, const Json& architecture, const Schedule& schedule, const std::string& parameterization,
                                          const std::string& where, torch::Device device) {
  std::shared_ptr<UNet> net;
  {
    const TensorBudget budget(tensors, where);
    net = std::make_shared<UNet>(architecture.get<UNetConfig>());
  }
  load_into(*net, tensors, where);
  net->to(device);
  return std::make_shared<UNetDenoiser>(net, schedule, parameterization_from(parameterization));
}

std::string parameterization_in(const ModelFile& model) {
  const auto said = model.metadata.find("parameterization");   // public files say nothing: they predict ε
  return said == model.metadata.end() ? "eps" : said->second;
}

std::shared_ptr<UNetDenoiser> good_of(const ModelFile& model, const std::string& where, torch::Device device) {
  const auto scheduled = model.metadata.find("schedule");      // … and that β is linear over 1000 steps
  const auto schedule = scheduled == model.metadata.end() ? Schedule::linear() : Schedule::from_json(parsed(scheduled->second, where + ": schedule"), where);
  return denoiser_of(model.tensors, model.layout.architecture, schedule, parameterization_in(model), where, device);
}

}  // namespace

std::shared_ptr<UNetDenoiser> load_prior(const std::filesystem::path& file, torch::Device device) {
  auto model = read_model(file, "ddpm-unet");
  take_weak(model.tensors);
  return good_of(model, file.string(), device);
}

std::shared_ptr<Denoiser> load_led_prior(const std::filesystem::path& file, torch::Device device) {
  auto model = read_model(file, "ddpm-unet");
  const auto tensors = take_weak(model.tensors);
  const auto good = good_of(model, file.string(), device);
  const auto said = model.metadata.find("weak");
  if (tensors.empty() && said == model.metadata.end()) return good;
  const auto where = file.string() + ": weak";
  require(said != model.metadata.end(), where, "what its tensors are", "nothing");
  const auto json = parsed(said->second, where);
  std::string parameterization;
  JsonFields fields(json, where);
  fields.required("parameterization", parameterization);
  const auto weak = denoiser_of(from_eight_bits(tensors, where), fields.at("architecture"), good->schedule(), parameterization, where, device);
  const auto lead = autoguidance_from(fields.at("lead"), where);
  fields.no_others();
  return std::make_shared<AutoguidedDenoiser>(good, weak, lead);
}

void add_weak_prior(TensorFile& prior, const std::filesystem::path& file, const Autoguidance& lead) {
  auto weak = read_model(file, "ddpm-unet");
  take_weak(weak.tensors);
  take_weak(prior.tensors);
  for (auto& [name, tensor] : in_eight_bits(weak.tensors)) prior.tensors[std::string(kWeakPrefix) + name] = tensor;
  prior.metadata["weak"] = Json{{"architecture", weak.layout.architecture}, {"parameterization", parameterization_in(weak)}, {"lead", to_json(lead)}}.dump();
}

std::shared_ptr<Upscaler> load_upscaler(const std::filesystem::path& file) {
  const auto model = read_model(file, "upscaler");
  const auto config = model.layout.architecture.get<UpscalerConfig>();
  constexpr std::int64_t largest_factor = 16;   // its cells are mixed by a matrix of 3·factor² rows and columns
  require(config.factor <= largest_factor, file.string(), fmt::format("a factor up to {}", largest_factor),
          std::to_string(config.factor));
  std::shared_ptr<Upscaler> net;
  {
    const TensorBudget budget(model.tensors, file.string());
    net = std::make_shared<Upscaler>(config);
  }
  load_into(*net, model.tensors, file.string());
  for (auto& parameter : net->parameters()) parameter.requires_grad_(false);
  return net;
}

}  // namespace spnn
