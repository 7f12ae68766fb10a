#include <spnn/checkpoint/foreign_layouts.h>
#include <spnn/networks/unet.h>

#include <fmt/ranges.h>

namespace spnn {
namespace {

constexpr std::int64_t most_levels = 16;

// The output channels of a convolution; 0 if there is none of that name.
std::int64_t channels_out(const TensorMap& tensors, const std::string& name) {
  const auto found = tensors.find(name + ".weight");
  return found != tensors.end() && found->second.dim() == 4 ? found->second.size(0) : 0;
}

std::int64_t count(const TensorMap& tensors, const std::string& pattern) {
  std::int64_t n = 0;
  while (channels_out(tensors, fmt::format(fmt::runtime(pattern), n)) > 0) ++n;
  return n;
}

// Weights do not tell the size of the images. All public networks of the family attend at 16×16, and one
// without attention ends at 4×4.
std::int64_t likely_image_size(const std::vector<std::int64_t>& attending, std::int64_t levels) {
  return attending.empty() ? std::int64_t{4} << (levels - 1) : std::int64_t{16} << attending.front();
}

}  // namespace

std::optional<Layout> unet_layout(const TensorMap& tensors) {
  UNetConfig config{.ch_mult = {}, .attn_resolutions = {}};
  config.ch = channels_out(tensors, "conv_in");
  config.out_channels = channels_out(tensors, "conv_out");
  const auto levels = count(tensors, "down.{}.block.0.conv1");
  if (config.ch == 0 || config.out_channels == 0 || levels == 0 || levels > most_levels) return std::nullopt;
  if (!tensors.contains("temb.dense.0.weight") || !tensors.contains("mid.block_1.conv1.weight"))
    return std::nullopt;
  config.in_channels = tensors.at("conv_in.weight").size(1);
  config.num_res_blocks = count(tensors, "down.0.block.{}.conv1");
  std::vector<std::int64_t> attending;
  for (std::int64_t level = 0; level < levels; ++level) {
    const auto channels = channels_out(tensors, fmt::format("down.{}.block.0.conv1", level));
    if (channels % config.ch != 0) return std::nullopt;
    config.ch_mult.push_back(channels / config.ch);
    if (channels_out(tensors, fmt::format("down.{}.attn.0.q", level)) > 0) attending.push_back(level);
  }
  config.image_size = likely_image_size(attending, levels);
  for (const auto level : attending) config.attn_resolutions.push_back(config.image_size >> level);
  return Layout{"ddpm-unet", Json(config),
                fmt::format("DDPM U-Net, ch {}, mult {}, {} res blocks, likely for {} pixels", config.ch,
                            fmt::join(config.ch_mult, ","), config.num_res_blocks, config.image_size)};
}

std::optional<Layout> guided_diffusion_layout(const TensorMap& tensors) {
  for (const auto& [name, tensor] : tensors)
    if (name.find("input_blocks.") != std::string::npos)
      return Layout{"guided-diffusion", nullptr,
                    "guided-diffusion U-Net (input_blocks…), another architecture"};
  return std::nullopt;
}

}  // namespace spnn
