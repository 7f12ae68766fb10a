#pragma once

#include <spnn/data/dataset.h>

#include <array>

namespace spnn {

// What is in a data set. Every image is decoded once, to find bad ones, but none is kept: sets larger than
// memory work.
struct Summary {
  struct Part {
    std::int64_t images = 0;
    std::vector<double> rates = {};  // share of images with each attribute, or of each class
  };
  std::string name = {};
  std::string split_rule = {};
  std::vector<std::string> attributes = {};
  bool multi_label = true;
  std::array<Part, 3> parts = {};  // train, val, test
  std::array<std::int64_t, 2> smallest =
      {};  // height, width over all files: equal to `largest` when all agree
  std::array<std::int64_t, 2> largest = {};
  std::int64_t channels = 3;
  std::vector<std::string> skipped = {};

  std::int64_t images() const { return parts[0].images + parts[1].images + parts[2].images; }
};

Summary summarize(const std::filesystem::path& path, bool skip_bad, Observer* observer = nullptr);

}  // namespace spnn
