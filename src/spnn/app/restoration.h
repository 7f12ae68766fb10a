#pragma once

#include <spnn/app/default_models.h>
#include <spnn/app/sampling.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace spnn::app {

// An image on its way, as rows of interleaved bytes.
struct Preview {
  std::string name;                    // of the file it will become
  std::int64_t width = 0, height = 0, channels = 0;
  std::vector<std::uint8_t> pixels;
};
using OnPreview = std::function<void(const Preview&)>;

// Where guidance begins if neither the options nor the classifier's file say: on faces what is guided earlier is forgotten
// (docs/experiments.md).
inline constexpr std::int64_t reconstruct_window = 250, edit_window = 500;

struct GuidanceOptions {
  std::string pseudo_inverse = "learned";    // learned, origin, anchored, random, min-norm
  std::string metric = "plain";              // plain, residual; naive is back-projection without a completion
  std::string schedule = "constant";         // constant, two-level, adaptive
  double lambda = 1.0;                       // constant, and the early one of two levels
  double late = 1.0;                         // the late level,
  std::int64_t late_below = 600;             // from this t on
  double alpha = 1.0, gamma = 1.0;           // of the adaptive schedule
  std::optional<std::int64_t> window_from = {};   // guide only below this t; none: as the classifier's file says, else as above
  std::int64_t window_to = 0;                // and from this t up
  std::int64_t every = 1;                    // back-project at every so many-th step of the window, always at the last
  std::int64_t final_projections = 24;       // strict ones on the 8-bit image; 0 saves what was sampled
};

struct AttributeRequest {
  std::string name;
  bool present = true;
  std::string strategy = "auto";   // auto, sparse, covariance
};

struct ReconstructJob {
  ModelChoice models;
  std::vector<std::string> images;            // their outputs are measured and become targets,
  std::vector<AttributeRequest> attributes;   // or attributes, the others following by covariance,
  std::string logits;                         // or a CSV file, one target a row
  bool fit = false;                           // crop and resize images of another size
  double strength = 2.0;                      // of attributes, in σ,
  double margin = 4.0;                        // and at least so far on the right side of 0
  std::string output = "reconstructed";       // a folder
  std::int64_t samples = 1;                   // images a target
  std::uint64_t seed = 0;
  SamplingOptions sampling;
  GuidanceOptions guidance;
  std::string report;                         // a folder for report.html; empty: none
  std::string command;                        // as typed, for the report
  OnPreview on_preview = {};                  // sees every image at every step; empty costs nothing
};

struct EditJob {
  ModelChoice models;
  std::vector<std::string> photos;            // empty: from noise
  std::vector<AttributeRequest> attributes;
  bool fit = false;
  double strength = 2.0, margin = 4.0;
  std::string output = "edited";
  std::int64_t samples = 1;
  std::uint64_t seed = 0;
  SamplingOptions sampling;
  GuidanceOptions guidance = {.schedule = "adaptive"};
  std::string report;
  std::string command;
  OnPreview on_preview = {};
};

struct SavedImage {
  std::string file, source;
  std::uint64_t seed = 0;
  double agreement = 0;        // of the wanted outputs, by g on the saved 8-bit image
  double mean_abs_dp = 0;
  double consistency_before = 0, consistency_after = 0;
};

struct RestorationReport {
  std::vector<SavedImage> images;
  double agreement = 0, mean_abs_dp = 0;
  double seconds_per_image = 0;
  std::string page;            // the report, if one was asked for
};

}  // namespace spnn::app
