#pragma once

#include <spnn/checkpoint/checkpoint.h>
#include <spnn/core/config.h>

namespace spnn {

// What network a checkpoint is, from its own metadata or from the names and shapes of its tensors.
struct Layout {
  std::string kind;   // "spnn", "ddpm-unet", "guided-diffusion", "unknown", or what our own file says
  Json architecture;  // the configuration that builds the network; null if not known
  std::string text;   // for a person: "SPNN reference-256 with 40 outputs"
};

Layout describe(const Checkpoint& checkpoint, const std::string& where);

// A model ready to be loaded: tensors have the names of our own networks, whatever the file called them.
struct ModelFile {
  Layout layout;
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;
};

// What every loader of networks starts with. A layout that we know but cannot build, and one that we do not
// know, are refused by name; so is a file of another kind than the wanted one ("" wants any).
ModelFile read_model(const std::filesystem::path& file, const std::string& kind = "");
ModelFile as_model(Checkpoint checkpoint, const std::string& where, const std::string& kind = "");

}  // namespace spnn
