#pragma once

#include <cstdint>
#include <string>

namespace spnn::engine {

struct InspectJob {
  std::string file;
  std::string json;  // where to write the report, "" for nowhere
};

struct ConvertJob {
  std::string in;
  std::string out;
  bool half = false;  // floating-point tensors in two bytes
  std::string attributes = {};   // names for the outputs of an SPNN: a text file, one a line
  std::string statistics = {};   // a data set: mean, covariance and exemplars of an SPNN's outputs over its training images, which edits aim at
  std::int64_t images = 0;       // … over so many of them; 0 is all
  std::string weak = {};         // a weak prior to go into the file of a prior, which then is led away from it where it makes images:
  double lead = 1;               // so far,
  std::int64_t lead_from = 1000, lead_to = 0;   // at times lead_to ≤ t < lead_from
  std::int64_t reconstruct_window = 0, edit_window = 0;  // said in the file of an SPNN (GuidanceWindows); 0 leaves what it says
};

}  // namespace spnn::engine
