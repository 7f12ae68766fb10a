#include <spnn/checkpoint/module_state.h>
#include <spnn/checkpoint/safetensors.h>
#include <spnn/core/errors.h>
#include <spnn/diffusion/load_prior.h>

namespace spnn {

std::shared_ptr<UNetDenoiser> load_prior(const std::filesystem::path& file, torch::Device device) {
  const auto content = read_safetensors(file);
  const auto& meta = content.metadata;
  const auto kind = meta.contains("kind") ? meta.at("kind") : "a file without a kind";
  require(kind == "ddpm-unet", file.string(), "a diffusion prior (ddpm-unet)", kind);
  auto net = std::make_shared<UNet>(Json::parse(meta.at("architecture")).get<UNetConfig>());
  load_into(*net, content.tensors, file.string());
  net->to(device);
  const auto parameterization = meta.contains("parameterization") ? meta.at("parameterization") : "eps";
  return std::make_shared<UNetDenoiser>(net, Schedule::linear(), parameterization_from(parameterization));
}

}  // namespace spnn
