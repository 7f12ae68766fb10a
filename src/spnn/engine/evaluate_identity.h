#pragma once

#include <cstdint>
#include <string>

namespace spnn::engine {

struct EvaluateIdentityJob {
  std::string model;            // an identity network
  std::string data;
  std::string identities;       // a text file: who is on each picture
  std::string split = "val";
  std::string device = "cpu";
  std::string json;             // also write the figures here
};

// Over all pairs of pictures of the split.
struct IdentityFigures {
  std::int64_t images = 0, people = 0, same_pairs = 0, different_pairs = 0;
  double auc = 0, same = 0, different = 0;   // area under the ROC curve; mean cosines
};

}  // namespace spnn::engine
