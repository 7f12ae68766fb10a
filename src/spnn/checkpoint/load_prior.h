#pragma once

#include <spnn/checkpoint/safetensors.h>
#include <spnn/diffusion/autoguidance.h>
#include <spnn/diffusion/unet_denoiser.h>
#include <spnn/networks/upscaler.h>

#include <filesystem>
#include <memory>

namespace spnn {

// A prior from a model file: ours, or a public checkpoint of the DDPM U-Net family (original, DDIM list or diffusers
// names). Anything else is refused by name.
std::shared_ptr<UNetDenoiser> load_prior(const std::filesystem::path& file, torch::Device device = torch::kCPU);

// The same, led away from the weak prior that its file may hold: for making images.
std::shared_ptr<Denoiser> load_led_prior(const std::filesystem::path& file, torch::Device device = torch::kCPU);

// Puts the prior of another file into this one's, as the weak one (which takes the place of one that is there), in eight bits a weight.
void add_weak_prior(TensorFile& prior, const std::filesystem::path& weak, const Autoguidance& lead);

// The second stage of a cascade, for inference.
std::shared_ptr<Upscaler> load_upscaler(const std::filesystem::path& file);

}  // namespace spnn
