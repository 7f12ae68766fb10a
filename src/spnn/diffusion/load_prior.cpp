#include <spnn/checkpoint/layout.h>
#include <spnn/checkpoint/module_state.h>
#include <spnn/diffusion/load_prior.h>

namespace spnn {

std::shared_ptr<UNetDenoiser> load_prior(const std::filesystem::path& file, torch::Device device) {
  const auto model = read_model(file, "ddpm-unet");
  auto net = std::make_shared<UNet>(model.layout.architecture.get<UNetConfig>());
  load_into(*net, model.tensors, file.string());
  net->to(device);
  const auto said = model.metadata.find("parameterization");   // public files say nothing: they predict ε
  const auto parameterization = said == model.metadata.end() ? "eps" : said->second;
  return std::make_shared<UNetDenoiser>(net, Schedule::linear(), parameterization_from(parameterization));
}

}  // namespace spnn
