#include <spnn/checkpoint/foreign_layouts.h>

#include <algorithm>
#include <charconv>

namespace spnn {
namespace {

using Rename = std::pair<std::string_view, std::string_view>;

constexpr Rename whole_network[] = {{"conv_in", "conv_in"},
                                    {"conv_out", "conv_out"},
                                    {"conv_norm_out", "norm_out"},
                                    {"time_embedding.linear_1", "temb.dense.0"},
                                    {"time_embedding.linear_2", "temb.dense.1"}};
constexpr Rename middle[] = {{"resnets.0", "block_1"}, {"attentions.0", "attn_1"}, {"resnets.1", "block_2"}};
constexpr Rename parts[] = {{"resnets.", "block."},
                            {"attentions.", "attn."},
                            {"downsamplers.0.", "downsample."},
                            {"upsamplers.0.", "upsample."}};
constexpr Rename leaves[] = {{"norm1", "norm1"},
                             {"conv1", "conv1"},
                             {"time_emb_proj", "temb_proj"},
                             {"norm2", "norm2"},
                             {"conv2", "conv2"},
                             {"conv", "conv"},
                             {"conv_shortcut", "nin_shortcut"},
                             {"group_norm", "norm"},
                             {"query", "q"},
                             {"key", "k"},
                             {"value", "v"},
                             {"proj_attn", "proj_out"},
                             {"to_q", "q"},
                             {"to_k", "k"},
                             {"to_v", "v"},
                             {"to_out.0", "proj_out"}};

// Cuts the number before the first point off the front of `rest`.
std::optional<std::int64_t> take_number(std::string_view& rest) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error != std::errc{} || end == rest.data() + rest.size() || *end != '.' || number < 0)
    return std::nullopt;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()) + 1);
  return number;
}

bool take_prefix(std::string_view& rest, std::string_view prefix) {
  if (!rest.starts_with(prefix)) return false;
  rest.remove_prefix(prefix.size());
  return true;
}

template <std::size_t n>
std::optional<std::string> renamed(const Rename (&table)[n], std::string_view name) {
  for (const auto& [from, to] : table)
    if (from == name) return std::string(to);
  return std::nullopt;
}

// "resnets.0.conv1" → "block.0.conv1", "downsamplers.0.conv" → "downsample.conv".
std::optional<std::string> part_name(std::string_view rest) {
  for (const auto& [from, to] : parts) {
    if (!take_prefix(rest, from)) continue;
    std::string name(to);
    if (from == "resnets." || from == "attentions.") {
      const auto number = take_number(rest);
      if (!number) return std::nullopt;
      name += fmt::format("{}.", *number);
    }
    const auto leaf = renamed(leaves, rest);
    return leaf ? std::optional(name + *leaf) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::string> middle_name(std::string_view rest) {
  for (const auto& [from, to] : middle) {
    if (!rest.starts_with(from) || rest.substr(from.size(), 1) != ".") continue;
    const auto leaf = renamed(leaves, rest.substr(from.size() + 1));
    return leaf ? std::optional(fmt::format("mid.{}.{}", to, *leaf)) : std::nullopt;
  }
  return std::nullopt;
}

// The original name of a module. diffusers counts `up` in the order of the forward pass, the original by
// resolution.
std::optional<std::string> original_name(std::string_view module, std::int64_t levels) {
  if (auto name = renamed(whole_network, module)) return name;
  if (take_prefix(module, "mid_block.")) return middle_name(module);
  const bool down = take_prefix(module, "down_blocks.");
  if (!down && !take_prefix(module, "up_blocks.")) return std::nullopt;
  const auto number = take_number(module);
  const auto part = number && *number < levels ? part_name(module) : std::nullopt;
  if (!part) return std::nullopt;
  return down ? fmt::format("down.{}.{}", *number, *part)
              : fmt::format("up.{}.{}", levels - 1 - *number, *part);
}

std::int64_t count_levels(const TensorMap& tensors) {
  std::int64_t levels = 0;
  while (tensors.contains(fmt::format("down_blocks.{}.resnets.0.conv1.weight", levels))) ++levels;
  return levels;
}

}  // namespace

bool has_diffusers_names(const TensorMap& tensors) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const auto& entry) { return entry.first.starts_with("down_blocks."); });
}

std::optional<TensorMap> from_diffusers_names(const TensorMap& tensors) {
  const auto levels = count_levels(tensors);
  TensorMap original;
  for (const auto& [name, tensor] : tensors) {
    const auto point = name.rfind('.');
    if (point == std::string::npos) return std::nullopt;
    const auto module = original_name(std::string_view(name).substr(0, point), levels);
    if (!module) return std::nullopt;
    const bool matrix = module->find("attn") != std::string::npos && tensor.dim() == 2;
    const auto added =
        original.emplace(*module + name.substr(point), matrix ? tensor.unsqueeze(-1).unsqueeze(-1) : tensor)
            .second;
    if (!added) return std::nullopt;
  }
  return original;
}

}  // namespace spnn
