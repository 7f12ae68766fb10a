#pragma once

#include <spnn/blocks/block.h>
#include <spnn/blocks/subnet.h>
#include <spnn/networks/spnn_config.h>

#include <memory>

namespace spnn {

// Block number `b` of a network, for inputs of shape `in`.
std::shared_ptr<Block> build_block(const BlockConfig& config, const Shape& in, std::size_t b);

// A net r for a surjection whose output is `y` and whose discarded part has `z_channels`.
std::shared_ptr<Subnet> build_r(const SurjectionBlockConfig& config, const Shape& y, std::int64_t z_channels,
                                std::size_t b);

}  // namespace spnn
