#include <spnn/checkpoint/layout.h>
#include <spnn/checkpoint/module_state.h>
#include <spnn/checkpoint/tensor_checks.h>
#include <spnn/core/errors.h>
#include <spnn/core/json_text.h>
#include <spnn/checkpoint/load_prior.h>

namespace spnn {
namespace {

Json parsed(const std::string& text, const std::filesystem::path& file) {
  auto json = parse_json(text, file.string() + ": schedule");
  require(json.is_object(), file.string() + ": schedule", "a table of settings", "something else");
  return json;
}

}  // namespace

std::shared_ptr<UNetDenoiser> load_prior(const std::filesystem::path& file, torch::Device device) {
  const auto model = read_model(file, "ddpm-unet");
  std::shared_ptr<UNet> net;
  {
    const TensorBudget budget(model.tensors, file.string());
    net = std::make_shared<UNet>(model.layout.architecture.get<UNetConfig>());
  }
  load_into(*net, model.tensors, file.string());
  net->to(device);
  const auto said = model.metadata.find("parameterization");   // public files say nothing: they predict ε
  const auto parameterization = said == model.metadata.end() ? "eps" : said->second;
  const auto scheduled = model.metadata.find("schedule");      // … and that β is linear over 1000 steps
  const auto schedule = scheduled == model.metadata.end() ? Schedule::linear() : Schedule::from_json(parsed(scheduled->second, file), file.string());
  return std::make_shared<UNetDenoiser>(net, schedule, parameterization_from(parameterization));
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
