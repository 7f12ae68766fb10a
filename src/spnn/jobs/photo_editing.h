#pragma once

// How `edit` and `evaluate photos` move photos. Internal to jobs/.

#include <spnn/jobs/restoration_session.h>
#include <spnn/restoration/wish.h>

namespace spnn::engine {

struct PhotoEditing {
  bool fast = false;
  std::optional<double> keep = {};   // none: as found best
  bool views = true;                 // move by the mean over views; false: at once, for targets that move other outputs too
};

// The way of a photo: the restorer's configuration and, where targets move other outputs too, the time that the moved photo is noised to. `guidance`
// without window_from takes it from `keep`; a time of 0 is one pass.
struct PhotoWay {
  RestorerConfig config;
  std::int64_t time = 0;
};
PhotoWay photo_way(const PhotoEditing& editing, GuidanceOptions guidance, const SamplingOptions& sampling, torch::Device device = torch::kCPU);

// y' of each row of y = g(photos): the attributes at their goals, what they exclude off, the others as they are. Strategies that move
// the others too (covariance, exemplar) are taken at their word.
Wish wish_of(std::span<const AttributeRequest> requests, const SpnnModel& classifier, double amount);
bool moves_others(std::span<const AttributeRequest> requests);

// Where in a photo these attributes live; undefined where the classifier's file does not say.
Tensor place_of_wish(std::span<const AttributeRequest> requests, const SpnnModel& classifier);

}  // namespace spnn::engine
