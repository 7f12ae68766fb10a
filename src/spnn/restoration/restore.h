#pragma once

#include <spnn/restoration/back_projection.h>
#include <spnn/restoration/finalize.h>
#include <spnn/restoration/kept_batches.h>
#include <spnn/restoration/photo_edit.h>

#include <optional>

namespace spnn {

// How: the sampler, when guidance acts, what is done to the bytes at the end.
struct RestorerConfig {
  SamplerConfig sampler = {};
  Window window = {};
  FinalizeConfig finalize = {};
  std::int64_t batch = 16;
  bool diffuse = true;      // false: back-projection of the photo alone, without the prior
  std::optional<PhotoEditConfig> photo = {};   // how a photo is edited; none: noised to the start and drawn with back-projection
  std::optional<double> hold = {};   // 0 … 1, then: a photo is moved first, and held where that left it alone by so much
};

// What makes large images of a batch that was sampled small: `make` gives those of images first … last − 1, and g, the network
// behind the pooling, is what they are finalized and measured with.
struct Enlargement {
  std::shared_ptr<const BackProjector> g = {};
  std::function<Tensor(const Tensor& x, std::int64_t first, std::int64_t last, Observer& observer)> make = {};
};

// What is wanted of any number of images.
struct RestorationTask {
  ImageSeeds seeds;                                                            // one for each image
  std::function<Target(std::int64_t first, std::int64_t last)> target;         // of images first … last − 1
  Guidance guidance = constant_lambda(1);
  SamplerStart start = {};                                                     // noise, or photos, one for each image
  Tensor place = {};                                                           // [1, 1, H, W]: where edits draw photos again (photo_edit.h)
  Enlargement large = {};                                                      // none: images of the prior's own size
  std::vector<std::string> names = {};                                         // for previews; empty: their numbers
  std::function<void(std::int64_t first, const Finalized&)> on_batch = {};     // e.g. saves: what is done survives an interrupt
  std::shared_ptr<KeptBatches> kept = {};                                      // where finished batches are kept and shared
};

// Images in batches, each sampled with back-projection and finalized. requires: prior and g of one image shape.
// ensures: image i of the result depends on seed, target and photo i only. Progress counts the denoising steps of all batches.
Finalized restore(const Denoiser& prior, const BackProjector& g, const RestorerConfig& config, const RestorationTask& task,
                  Observer& observer);

// Unguided samples in batches, uint8. `on_batch` sees each as soon as it is there.
Tensor sample_all(const Denoiser& prior, const SamplerConfig& config, const ImageSeeds& seeds, const Batching& batching, Observer& observer,
                  const std::function<void(std::int64_t first, const Tensor& bytes)>& on_batch = {});

}  // namespace spnn
