#pragma once

// What `edit` and `reconstruct` are in tensors, before and after anything of files: the command, a session and Python share it.
// Internal to jobs/ and python/.

#include <spnn/engine/requests.h>
#include <spnn/jobs/restoration_session.h>

namespace spnn::engine {

// restore(prior, *g, config, task, observer) does it.
struct GuidedWork {
  std::shared_ptr<SpnnProjector> g;
  RestorerConfig config;
  RestorationTask task;
};

// Attributes of nobody in particular, `wish.samples` images: all outputs follow what training images have.
GuidedWork edit_from_noise(const SpnnModel& classifier, const EditRequest& wish, Observer& observer);

// Photos [B, C, H, W] in [−1, 1], each by itself: one back-projection; then, unless it shall be fast, the prior takes away what is no
// photo in what was moved. `wish.photos` and `wish.samples` are not looked at.
GuidedWork edit_of_photos(const SpnnModel& classifier, const Tensor& photos, const EditRequest& wish, Observer& observer);

// Images whose outputs are the rows of y. Of the wish only seed, sampling and guidance are looked at.
GuidedWork reconstruction_of(const SpnnModel& classifier, const Tensor& y, const ReconstructRequest& wish, Observer& observer);

// The outputs to expect of an image with these attributes, [1, A].
Tensor outputs_with(const SpnnModel& classifier, const ReconstructRequest& wish);

}  // namespace spnn::engine
