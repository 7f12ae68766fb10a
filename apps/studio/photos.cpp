#include "photos.h"

#include <algorithm>

#include "guard.h"

namespace spnn::studio {
namespace {

constexpr std::size_t kPreparedPhotos = 128;

}  // namespace

std::size_t PhotoStore::bytes() const {
  const std::lock_guard lock(mutex_);
  std::size_t all = 0;
  for (const auto& photo : photos_) all += photo.file->size();
  return all;
}

void PhotoStore::make_room(std::size_t bytes) {
  const auto now = std::chrono::steady_clock::now();
  const auto old = [&](const StoredPhoto& p) {
    return std::chrono::duration<double>(now - p.used).count() > limits_.photo_seconds;
  };
  std::size_t all = bytes;
  for (const auto& photo : photos_) all += photo.file->size();
  while (!photos_.empty() &&
         (photos_.size() >= limits_.photos || all > limits_.photos_total_bytes || old(photos_.front()))) {
    all -= photos_.front().file->size();
    std::erase_if(prepared_, [&](const Prepared& p) { return p.id == photos_.front().id; });
    photos_.pop_front();
  }
}

StoredPhoto PhotoStore::add(std::string_view file) {
  if (file.empty()) throw Refusal{400, "photo: expected a PNG, JPEG or WebP file, got nothing"};
  if (file.size() > limits_.photo_bytes)
    throw Refusal{413, "photo: expected at most " + std::to_string(limits_.photo_bytes) + " bytes, got more"};
  const auto size = look_at(file);
  if (!size) throw Refusal{415, "photo: expected a PNG, JPEG or WebP file, got something else"};
  if (size->width < 1 || size->height < 1) throw Refusal{415, "photo: expected a picture, got one without pixels"};
  if (size->width > limits_.photo_pixels / size->height)
    throw Refusal{413, "photo: expected at most " + std::to_string(limits_.photo_pixels / 1'000'000) +
                           " megapixels, got " + std::to_string(size->width) + " × " + std::to_string(size->height)};
  StoredPhoto photo{random_name(), std::make_shared<std::vector<std::uint8_t>>(file.begin(), file.end()), *size,
                    std::chrono::steady_clock::now()};
  const std::lock_guard lock(mutex_);
  make_room(file.size());
  photos_.push_back(photo);
  return photo;
}

StoredPhoto PhotoStore::find(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(photos_.begin(), photos_.end(), [&](const StoredPhoto& p) { return p.id == id; });
  if (found == photos_.end())
    throw Refusal{404, "photo: expected one that this server has, got an unknown or forgotten one"};
  found->used = std::chrono::steady_clock::now();
  photos_.splice(photos_.end(), photos_, found);
  return photos_.back();
}

engine::Photo PhotoStore::photo(const std::string& id, const Crop& crop) {
  engine::Photo photo;
  photo.encoded = *find(id).file;
  photo.name = "photo";
  if (crop.side > 0) photo.box = engine::CropBox{crop.x, crop.y, crop.x + crop.side, crop.y + crop.side};
  return photo;
}

engine::Image PhotoStore::prepared(const std::string& id, const Crop& crop, const Fit& fit) {
  {
    const std::lock_guard lock(mutex_);
    for (const auto& p : prepared_)
      if (p.id == id && p.crop == crop) return p.image;
  }
  auto image = fit(photo(id, crop));
  const std::lock_guard lock(mutex_);
  prepared_.push_back({id, crop, image});
  if (prepared_.size() > kPreparedPhotos) prepared_.pop_front();
  return image;
}

}  // namespace spnn::studio
