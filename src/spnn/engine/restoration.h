#pragma once

#include <spnn/engine/default_models.h>
#include <spnn/engine/sampling.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spnn::engine {

// Where guidance begins if neither the options nor the classifier's file say: at the first step of a reconstruction; edits from noise have the
// shape of a head first (docs/experiments.md).
inline constexpr std::int64_t reconstruct_window = 1000, edit_window = 500;

// How much of a photo an edit keeps if nobody says. At 1 it is moved by back-projections, their mean over views of it carried through the
// prior, and nothing else. Below, the place where the attributes live is then drawn again, from noise of (1 − keep) × photo_noise × the square of
// the move's strength there; everywhere else the photo stays. Targets that move other outputs too (covariance, exemplar) keep all of it, or below
// 1 noise the moved photo to t = (1 − keep) × photo_window.
inline constexpr double photo_keep = 0.6, photo_noise = 30;
inline constexpr double photo_amount = 1;   // times what photos with an attribute have: what an edit of a photo aims at (docs/experiments.md)
inline constexpr std::int64_t photo_window = 200;

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
  std::string strategy = "auto";                // auto, sparse, covariance, exemplar
  std::optional<double> probability = {};       // aim at this (0 … 1) instead of a value that images with the attribute have,
  std::optional<double> value = {};             // or at this output of g itself
};

}  // namespace spnn::engine
