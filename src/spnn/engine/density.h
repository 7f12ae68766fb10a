#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace spnn::engine {

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

}  // namespace spnn::engine
