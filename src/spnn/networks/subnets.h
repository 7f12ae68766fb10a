#pragma once

#include <spnn/blocks/subnet.h>
#include <spnn/core/rng.h>
#include <spnn/core/shape.h>
#include <spnn/networks/subnet_config.h>

#include <memory>

namespace spnn {

// Builds the network of `config` for inputs of shape `in` and outputs of `out_channels` at the same height and width.
// Shapes are checked here: an error names `where`, the layer and both shapes. Weights are zero until initialised.
std::shared_ptr<Subnet> make_subnet(const SubnetConfig& config, const Shape& in, std::int64_t out_channels,
                                    const std::string& where);

// He's uniform start from a seed, the last layer at zero.
void initialise_subnet(Subnet& net, const Rng& rng);

}  // namespace spnn
