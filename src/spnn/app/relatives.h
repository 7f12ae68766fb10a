#pragma once

#include <spnn/app/restoration.h>
#include <spnn/app/training.h>
#include <spnn/core/observer.h>

#include <cstdint>
#include <string>
#include <vector>

namespace spnn::app {

struct DensitySampleJob {
  std::string model;
  std::string output = "samples.png";   // one grid
  std::int64_t count = 64;
  std::uint64_t seed = 0;
  double temperature = 1;
  std::int64_t columns = 0;             // 0: about as many as rows
  std::int64_t scale = 1;               // enlargement of the pixels
  std::int64_t batch = 64;
  std::string json;
};

struct DensitySampleReport {
  std::int64_t images = 0;
  double seconds_per_image = 0;
};

// Between pairs of images, in the latent parts of the model.
struct DensityInterpolateJob {
  std::string model;
  std::vector<std::string> images;      // an even number of files: pairs; or, if none,
  std::string data, split = "val";      // images 0, 1, 2, 3 … of a data set
  std::int64_t pairs = 4;               // of a data set
  std::int64_t steps = 8;               // columns, both ends included
  std::int64_t scale = 1;
  std::string output = "interpolation.png";
  std::string json;
};

struct DensityInterpolateReport {
  std::int64_t pairs = 0;
  double largest_error = 0;             // of the ends against the images that they encode
};

struct DensityEvaluateJob {
  std::string model;
  std::string data, split = "val";
  std::int64_t count = 0;               // the first so many images; 0 is all
  std::int64_t draws = 1;               // of the dequantisation noise, averaged
  std::uint64_t seed = 0;
  std::string json;
};

struct DensityFigures {
  std::string name;                     // of the architecture
  std::int64_t images = 0, dimensions = 0, bits = 0, parameters = 0;
  double bits_per_dim = 0, standard_error = 0;
  double milliseconds_per_image = 0;
};

// Many images with the same outputs: draws of the stochastic inverse at one attribute target.
struct PreimagesJob {
  ModelChoice models;                   // the classifier must have log-scales
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

// What the networks that SPNN grew out of can do: a façade of its own beside Engine, so that each can grow without the other.
class Relatives {
 public:
  virtual ~Relatives() = default;
  virtual void train_density(const TrainJob& job, Observer& observer) = 0;
  virtual DensitySampleReport sample_density(const DensitySampleJob& job, Observer& observer) = 0;
  virtual DensityInterpolateReport interpolate_density(const DensityInterpolateJob& job, Observer& observer) = 0;
  virtual DensityFigures evaluate_density(const DensityEvaluateJob& job, Observer& observer) = 0;
  virtual PreimagesReport preimages(const PreimagesJob& job, Observer& observer) = 0;
  virtual InversesReport compare_inverses(const InversesJob& job, Observer& observer) = 0;
};

}  // namespace spnn::app

// Looked up in libspnn by the launcher, as spnn_engine is.
extern "C" spnn::app::Relatives* spnn_relatives();
