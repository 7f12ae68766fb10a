#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace spnn::engine {

struct DataInfoJob {
  std::string data;       // a tar, a folder, a CSV or "fashion-mnist"
  bool skip_bad = false;  // report bad entries instead of stopping at the first
  std::string json;       // also write the result here
};

struct DataInfo {
  struct Part {
    std::string split;
    std::int64_t images = 0;
    std::vector<double> rates;  // share of images with each attribute, or of each class
  };
  std::string name, split_rule;
  std::vector<std::string> attributes;
  bool multi_label = true;
  std::int64_t images = 0, channels = 0;
  std::array<std::int64_t, 2> smallest = {}, largest = {};  // height, width
  std::vector<Part> parts;
  std::vector<std::string> skipped;
};

struct DataSheetJob {
  std::string data, output;
  std::string split = "train";
  std::int64_t count = 48, columns = 0, size = 0;  // columns 0: about square; size 0: as the files are
  std::vector<std::string> attributes;             // only these in the captions; empty: all
  bool skip_bad = false;
};

struct DataSheet {
  std::int64_t images = 0, height = 0, width = 0;
  std::vector<std::string> skipped;
};

}  // namespace spnn::engine
