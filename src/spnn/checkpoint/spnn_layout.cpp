#include <spnn/checkpoint/foreign_layouts.h>
#include <spnn/networks/presets.h>

namespace spnn {
namespace {

constexpr std::string_view block_prefix = "pinn.blocks.";

// The blocks that mix, by number: how many channels enter.
using Widths = std::map<std::int64_t, std::int64_t>;

Widths widths_of(const SpnnConfig& config) {
  Widths widths;
  auto channels = config.input.channels;
  for (std::size_t i = 0; i < config.blocks.size(); ++i) {
    if (const auto* unshuffle = std::get_if<UnshuffleBlockConfig>(&config.blocks[i])) {
      channels *= unshuffle->factor_h * unshuffle->factor_w;
    } else if (const auto* surjection = std::get_if<SurjectionBlockConfig>(&config.blocks[i])) {
      widths[static_cast<std::int64_t>(i)] = channels;
      channels = surjection->out;
    }
  }
  return widths;
}

struct Found {
  Widths widths;
  std::int64_t reflections = 0;  // of Householder's mixing; 0 for Cayley's
};

// Reads `pinn.blocks.{b}.mix.A_unconstrained` [C, C] and `….mix.V` [n, C].
Found find_mixes(const TensorMap& tensors) {
  Found found;
  for (const auto& [name, tensor] : tensors) {
    const bool householder = name.ends_with(".mix.V");
    if (!name.starts_with(block_prefix) || tensor.dim() != 2 ||
        !(householder || name.ends_with(".mix.A_unconstrained")))
      continue;
    found.widths[std::strtoll(name.c_str() + block_prefix.size(), nullptr, 10)] = tensor.size(1);
    if (householder) found.reflections = tensor.size(0);
  }
  return found;
}

// The last r sees the outputs.
std::int64_t outputs_of(const TensorMap& tensors, std::int64_t last_block) {
  const auto first = tensors.find(fmt::format("{}{}.r.net.0.weight", block_prefix, last_block));
  return first != tensors.end() && first->second.dim() == 4 ? first->second.size(1) : 0;
}

void use_householder(SpnnConfig& config, std::int64_t reflections) {
  for (auto& block : config.blocks)
    if (auto* surjection = std::get_if<SurjectionBlockConfig>(&block))
      surjection->mix = {.kind = MixConfig::Kind::householder, .reflections = reflections};
}

}  // namespace

std::optional<Layout> spnn_layout(const TensorMap& tensors) {
  const auto [widths, reflections] = find_mixes(tensors);
  if (widths.empty()) return std::nullopt;
  const auto outputs = outputs_of(tensors, widths.rbegin()->first);
  for (const auto name : spnn_preset_names()) {
    if (!name.starts_with("reference-") || widths_of(spnn_preset(name)) != widths || outputs < 1) continue;
    if (outputs >= widths.rbegin()->second) continue;
    auto config = spnn_preset(name, outputs);
    if (reflections > 0) use_householder(config, reflections);
    return Layout{"spnn", to_json(config),
                  fmt::format("SPNN {} with {} outputs, {} mixing", name, outputs,
                              reflections > 0 ? "Householder" : "Cayley")};
  }
  return std::nullopt;
}

}  // namespace spnn
