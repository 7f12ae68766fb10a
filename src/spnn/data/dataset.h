#pragma once

#include <spnn/core/observer.h>
#include <spnn/data/split.h>
#include <spnn/image/image.h>
#include <spnn/image/resize.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace spnn {

// Images decoded once and kept as bytes, with their labels.
struct Dataset {
  std::string name = {};                     // "CelebAMask-HQ", "CelebA", "Fashion-MNIST", "folder"
  Tensor images = {};                        // [N, C, H, W] uint8
  Tensor labels = {};                        // [N, A] float 0/1 attributes, or [N] int64 classes
  std::vector<std::string> attributes = {};  // names of attributes or classes
  std::vector<std::string> files = {};       // name of each image
  std::vector<Split> splits = {};            // of each image (useful with Split::all)
  std::string split_rule = {};               // what assigned the splits, as a phrase
  std::vector<std::string> skipped = {};     // with skip_bad: what was wrong, one line each
  bool multi_label = true;

  std::int64_t size() const { return images.defined() ? images.size(0) : 0; }
};

struct LoadOptions {
  Split split = Split::train;
  std::int64_t size = 0;         // square side to resize to; 0 = as the files are (which must then agree)
  std::int64_t channels = 0;     // 1 grey, 3 RGB; 0 = the set's own (Fashion-MNIST 1, others 3)
  std::optional<Box> crop = {};  // before resizing; default: CelebA's face box, else the centre square
  bool skip_bad = false;   // leave bad lines and files out and list them in `skipped`, instead of an error
  std::int64_t limit = 0;  // only the first so many images of the split; 0 = all
};

// `path` is a tar or folder in the layout of CelebAMask-HQ or CelebA, the word "fashion-mnist" (Debian's
// package) or a folder with its IDX files, or a folder of images with one CSV `file,attr1,attr2,…` (or that
// CSV itself; a folder without CSV gives images without attributes).
//   ensures: everything is read and checked; a missing image, wrong column count, unreadable file or label other than
//            ±1/0/1 is an Error naming file and line, or with skip_bad an entry of `skipped`.
Dataset load_dataset(const std::filesystem::path& path, const LoadOptions& options = {},
                     Observer* observer = nullptr);

}  // namespace spnn
