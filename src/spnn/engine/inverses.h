#pragma once

// Inverses beside the natural one: draws of the stochastic inverse, and the one of minimal norm.

#include <spnn/engine/restoration.h>

namespace spnn::engine {

// Many images with the same outputs: draws of the stochastic inverse at one attribute target.
struct PreimagesJob {
  ModelChoice models;                   // the classifier must have log-scales
  std::string device = "cpu";
  std::vector<AttributeRequest> attributes;
  double strength = 2.0, margin = 4.0;  // of the target, as in EditJob
  std::int64_t count = 16;
  std::uint64_t seed = 0;
  double temperature = 1;
  std::string beside;                   // a folder of images made for the same target by other means, measured too
  std::string output = "preimages.png";
  std::string json;
};

struct PreimagesReport {
  struct Row {
    std::string name;
    std::int64_t images = 0;
    double distance = 0;                // mean over pairs of the root mean square difference of pixels in [−1, 1]
    double feature_distance = 0;        // the same of the judge's features
    double by_g = 0, by_judge = 0;      // shares of the asked attributes that are right on 8-bit images
    double judge_all = 0;               // share of all outputs in which the judge agrees with the target
    double consistency = 0;             // largest |g(x) − y| before saving; NaN for images from elsewhere
  };
  std::vector<Row> rows;
};

// The minimal-norm inverse beside the natural one, on small maps.
struct InversesJob {
  std::string output;                   // SVG; empty: none
  std::uint64_t seed = 0;
  std::string json;
};

struct InversesReport {
  struct Row {
    std::string map;
    double minimal = 0, natural = 0;    // ‖x‖
    double distance = 0;                // between the two
    double residual_minimal = 0, residual_natural = 0;   // largest |g(x) − y|
  };
  std::vector<Row> rows;
};

}  // namespace spnn::engine
