#pragma once

#include <spnn/checkpoint/safetensors.h>

namespace spnn {

// The tensors of a file that a user brings, whatever program wrote it.
struct Checkpoint {
  std::string container;                        // "safetensors", "PyTorch zip", "PyTorch legacy"
  std::string taken;                            // which part of the file the tensors are, "" for all of it
  std::map<std::string, Tensor> tensors;        // names without the `module.` of data-parallel training
  std::map<std::string, std::string> metadata;  // of safetensors

  std::int64_t parameter_count() const;
};

// Recognises the container by its content. A list as DDIM's trainer writes it gives its EMA weights. Whatever
// the file holds, the answer is tensors or an Error: nothing in it is executed, and memory is bounded by its
// size.
Checkpoint read_checkpoint(const std::filesystem::path& file);
Checkpoint read_checkpoint(Bytes bytes, const std::string& where);

}  // namespace spnn
