#pragma once

#include <spnn/checkpoint/pickle.h>

#include <torch/types.h>

#include <functional>
#include <map>

namespace spnn {

using torch::Tensor;

// A storage as a pickle names it: ('storage', type, key, location, numel[, view]).
struct StorageRef {
  std::string key;
  torch::ScalarType dtype = torch::kFloat32;
  std::uint64_t numel = 0;                       // of the whole storage
  std::uint64_t view_begin = 0, view_numel = 0;  // legacy files may name a part of it
};

StorageRef storage_from(const PickleValue& persistent, const std::string& where);

// Whether the value is a tensor or a parameter around one.
bool is_tensor(const PickleValue& value);

// Makes tensors of pickled ones: contiguous, on the CPU, with memory of their own. Sizes, strides and offsets
// are checked against the storage; all tensors together may take only a small multiple of the file's size.
class TensorReader {
 public:
  using Storages = std::function<Bytes(const StorageRef&)>;  // the raw bytes, or an Error
  TensorReader(Storages storages, bool big_endian, std::uint64_t file_size);

  Tensor read(const PickleValue& value, const std::string& where);

 private:
  Storages storages_;
  bool big_endian_;
  std::uint64_t budget_;
};

}  // namespace spnn
