#pragma once

// Photos that users brought and faces that were made here: in memory only, and forgotten.

#include <spnn/engine/image.h>

#include <chrono>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "http.h"
#include "pictures.h"

namespace spnn::studio {

struct Crop {
  std::int64_t x = 0, y = 0, side = 0;  // of the upright photo
  auto operator<=>(const Crop&) const = default;
};

struct StoredPhoto {
  std::string id;
  std::shared_ptr<const std::vector<std::uint8_t>> file;  // as it came
  FileSize size;
  std::chrono::steady_clock::time_point used;
};

class PhotoStore {
 public:
  explicit PhotoStore(const Limits& limits) : limits_(limits) {}

  // Refusal 415 for what is no PNG, JPEG or WebP, 413 for too many bytes or pixels. The oldest make room.
  StoredPhoto add(std::string_view file);
  StoredPhoto find(const std::string& id);  // Refusal 404

  // The file with the square that counts of it.
  engine::Photo photo(const std::string& id, const Crop& crop);

  // The square of a photo as the networks take it. Found once per photo and square: decoding 12 megapixels takes
  // longer than g†.
  using Fit = std::function<engine::Image(const engine::Photo&)>;
  engine::Image prepared(const std::string& id, const Crop& crop, const Fit& fit);

  std::size_t bytes() const;

 private:
  void make_room(std::size_t bytes);

  struct Prepared {
    std::string id;
    Crop crop;
    engine::Image image;
  };
  const Limits limits_;
  mutable std::mutex mutex_;
  std::list<StoredPhoto> photos_;  // the least used first
  std::list<Prepared> prepared_;
};

}  // namespace spnn::studio
