#pragma once

#include <spnn/core/io.h>

#include <torch/types.h>

#include <map>
#include <string>

namespace spnn {

using torch::Tensor;

// Our own model files: u64 little-endian header length, JSON header, contiguous row-major data. Metadata is
// strings: `kind`, `architecture` (JSON), the training record (JSON), and `checksum`, which covers every
// name, type, shape, value and metadata entry. Files of other programs without a checksum are read too.
struct TensorFile {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;
};

struct SafetensorsOptions {
  bool half = false;  // store floating-point tensors as F16; a value beyond its range is an error
};

// Atomic: a reader sees the old file or the new one. `checksum` is filled in here.
void write_safetensors(const std::filesystem::path& file, const TensorFile& content,
                       SafetensorsOptions options = {});

// ensures: tensors own their memory and have the stored type; the checksum, where there is one, was met.
// Allocates at most a small multiple of the file's size whatever the file says.
TensorFile read_safetensors(const std::filesystem::path& file);
TensorFile read_safetensors(Bytes bytes, const std::string& where);

// A number that differs, but for one chance in 2³², where a name, type, shape, value or metadata entry does.
std::uint32_t fingerprint(const TensorFile& content);

// Whether the bytes begin as such a file does.
bool looks_like_safetensors(Bytes bytes);

}  // namespace spnn
