#pragma once

#include <spnn/checkpoint/torch_tensors.h>

#include <memory>

namespace spnn {

// A file of torch.save, opened: the pickled object and a reader for the tensors in it. Views `bytes`, which
// must stay.
struct TorchFile {
  std::unique_ptr<Pickle> pickle;
  TensorReader tensors;
};

// PyTorch 1.6 and later: a zip archive with `*/data.pkl` and one entry `*/data/N` a storage.
TorchFile open_torch_zip(Bytes bytes, const std::string& where);

// Before: magic number, protocol 1001, system information, the object, storage keys, storages.
TorchFile open_torch_legacy(Bytes bytes, const std::string& where);
bool looks_like_torch_legacy(Bytes bytes);

}  // namespace spnn
