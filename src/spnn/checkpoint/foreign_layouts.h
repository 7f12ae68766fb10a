#pragma once

#include <spnn/checkpoint/layout.h>

#include <optional>

namespace spnn {

using TensorMap = std::map<std::string, Tensor>;

// Each answers nothing for tensors of another kind.
std::optional<Layout> spnn_layout(
    const TensorMap& tensors);  // the reference networks of 32, 64 and 256 pixels
std::optional<Layout> unet_layout(const TensorMap& tensors);  // the DDPM U-Net under its original names
std::optional<Layout> guided_diffusion_layout(const TensorMap& tensors);

// diffusers' names of the same U-Net. Attention weights are matrices there and 1×1 convolutions here.
bool has_diffusers_names(const TensorMap& tensors);
std::optional<TensorMap> from_diffusers_names(const TensorMap& tensors);

}  // namespace spnn
