#pragma once

#include <string>

namespace spnn::app {

struct InspectJob {
  std::string file;
  std::string json;  // where to write the report, "" for nowhere
};

struct ConvertJob {
  std::string in;
  std::string out;
  bool half = false;  // floating-point tensors in two bytes
};

}  // namespace spnn::app
