#pragma once

#include <spnn/diffusion/unet_denoiser.h>
#include <spnn/networks/upscaler.h>

#include <filesystem>
#include <memory>

namespace spnn {

// A prior from a model file: ours, or a public checkpoint of the DDPM U-Net family (original, DDIM list or diffusers
// names). Anything else is refused by name.
std::shared_ptr<UNetDenoiser> load_prior(const std::filesystem::path& file, torch::Device device = torch::kCPU);

// The second stage of a cascade, for inference.
std::shared_ptr<Upscaler> load_upscaler(const std::filesystem::path& file);

}  // namespace spnn
