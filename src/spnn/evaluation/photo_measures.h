#pragma once

#include <spnn/core/config.h>

#include <torch/types.h>

#include <array>
#include <vector>

namespace spnn {

using torch::Tensor;

// Photos and what an edit of one attribute made of them, as saved files have them, seen by g, by the judge and by whoever tells people apart.
struct PhotoEdits {
  Tensor photos, edited;                    // uint8 [N, C, H, W]
  Tensor wanted;                            // [N], 1 where the attribute should be there afterwards
  Tensor men;                               // [N], 1 where the label says Male: a moustache is another thing there; undefined: not known
  std::int64_t attribute = 0;
  Tensor y_edited;                          // [N, A] by g
  Tensor judge_photos, judge_edited;        // [N, A]
  Tensor features_photos, features_edited;  // [N, F] of the judge
  Tensor identity_photos, identity_edited;  // [N, d] of unit length; undefined: no identity network
  double seconds = 0;                       // for all of them
};

inline constexpr std::array<std::int64_t, 3> grid_periods = {2, 4, 8};

struct PhotoMeasures {
  std::int64_t images = 0;
  double by_g = 0, by_judge = 0;     // the share of edits on the wanted side
  double of_men = 0, of_women = 0;   // by_judge of these alone; NaN where there are none
  double judge_before = 0;           // … and of the photos themselves, by the judge
  double identity = 0;               // mean cosine of photo and edit; NaN without a network
  double others_changed = 0;         // share of all other attributes that changed sides, by the judge
  double rms = 0;                    // √mean (x' − x)² with pixels in [−1, 1]
  double feature_distance = 0;       // mean ‖f(x') − f(x)‖ of the judge's features over their mean length
  std::array<double, 3> grid = {};   // grid energy of x' − x at the periods above
  double seconds_per_image = 0;
};

PhotoMeasures measure_photo_edits(const PhotoEdits& edits);

// The mean of measures, of Fréchet distances nothing: they are of all images together.
PhotoMeasures mean_of(const std::vector<PhotoMeasures>& all);

Json to_json(const PhotoMeasures& measures);

}  // namespace spnn
