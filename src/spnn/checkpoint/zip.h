#pragma once

#include <spnn/core/io.h>

#include <map>
#include <string>

namespace spnn {

// The entries of a zip archive as PyTorch writes them: stored, not compressed. Entries are views of the
// archive's bytes; zip64 is understood. ensures: every entry lies inside the archive and meets its CRC.
class ZipArchive {
 public:
  ZipArchive(Bytes bytes, const std::string& where);

  const std::map<std::string, Bytes>& entries() const { return entries_; }
  const Bytes* find(const std::string& name) const;

 private:
  std::map<std::string, Bytes> entries_;
};

bool looks_like_zip(Bytes bytes);

}  // namespace spnn
