#include <spnn/checkpoint/byte_reader.h>
#include <spnn/checkpoint/foreign_layouts.h>
#include <spnn/checkpoint/layout.h>
#include <spnn/core/json_text.h>
#include <spnn/core/text.h>

namespace spnn {
namespace {

// One rule for every number of an architecture, whatever network it is of: products of a few of them stay far from
// overflow, and shifts by the length of a list far from the width of a number.
constexpr double largest_number = 65536;
constexpr std::size_t longest_numbers = 32, longest_list = 1024;

void require_sane_architecture(const Json& json, const std::string& where) {
  if (json.is_number()) {
    const auto value = json.get<double>();
    require(value >= -largest_number && value <= largest_number, where, fmt::format("numbers up to {}", largest_number),
            excerpt(json));
  }
  if (!json.is_structured()) return;
  const bool numbers = json.is_array() && !json.empty() && json.front().is_number();
  require(!numbers || json.size() <= longest_numbers, where, fmt::format("lists of at most {} numbers", longest_numbers),
          std::to_string(json.size()));
  require(json.size() <= longest_list, where, fmt::format("at most {} entries", longest_list), std::to_string(json.size()));
  for (const auto& inner : json) require_sane_architecture(inner, where);   // parse_json has bounded the depth
}

Layout own_layout(const Checkpoint& checkpoint, const std::string& where) {
  const auto& metadata = checkpoint.metadata;
  Layout layout{metadata.at("kind"), nullptr,
                fmt::format("our own file of kind {}", in_quotes(metadata.at("kind")))};
  if (const auto text = metadata.find("architecture"); text != metadata.end()) {
    layout.architecture = parse_json(text->second, where + ": the metadata 'architecture'");
    require(layout.architecture.is_object(), where, "the metadata 'architecture' as a JSON object",
            in_quotes(text->second));
    require_sane_architecture(layout.architecture, where + ": architecture");
    if (const auto name = layout.architecture.find("name");
        name != layout.architecture.end() && name->is_string())
      layout.text += fmt::format(", {}", in_quotes(name->get<std::string>()));
  }
  return layout;
}

Layout foreign_layout(const TensorMap& tensors) {
  if (auto layout = guided_diffusion_layout(tensors)) return *layout;
  if (auto layout = spnn_layout(tensors)) return *layout;
  if (auto layout = unet_layout(tensors)) return *layout;
  if (has_diffusers_names(tensors)) {
    const auto original = from_diffusers_names(tensors);
    if (auto layout = original ? unet_layout(*original) : std::nullopt) {
      layout->text += ", under diffusers' names";
      return *layout;
    }
  }
  const auto first =
      tensors.empty() ? "no tensors" : fmt::format("tensors like {}", in_quotes(tensors.begin()->first));
  return {"unknown", nullptr, fmt::format("no network that we know: {}", first)};
}

}  // namespace

Layout describe(const Checkpoint& checkpoint, const std::string& where) {
  return checkpoint.metadata.contains("kind") ? own_layout(checkpoint, where)
                                              : foreign_layout(checkpoint.tensors);
}

ModelFile as_model(Checkpoint checkpoint, const std::string& where, const std::string& kind) {
  ModelFile model{describe(checkpoint, where), {}, std::move(checkpoint.metadata)};
  const auto wanted = kind.empty() ? std::string("a model") : fmt::format("a model of kind '{}'", kind);
  require(!model.layout.architecture.is_null(), where, wanted, model.layout.text);
  require(kind.empty() || model.layout.kind == kind, where, wanted, model.layout.text);
  auto original =
      has_diffusers_names(checkpoint.tensors) ? from_diffusers_names(checkpoint.tensors) : std::nullopt;
  model.tensors = original ? std::move(*original) : std::move(checkpoint.tensors);
  return model;
}

ModelFile read_model(const std::filesystem::path& file, const std::string& kind) {
  return as_model(read_checkpoint(file), file.string(), kind);
}

}  // namespace spnn
