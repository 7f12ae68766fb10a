#include <spnn/core/errors.h>
#include <spnn/core/part_of_whole.h>
#include <spnn/image/image.h>
#include <spnn/restoration/hold.h>
#include <spnn/restoration/previews.h>
#include <spnn/restoration/restore.h>

#include <algorithm>
#include <numeric>

namespace spnn {
namespace {

std::int64_t batches_of(std::int64_t count, std::int64_t batch) { return batch < 1 ? 1 : (count + batch - 1) / batch; }

KeptBatches::Batch tensors_of(const Finalized& f) { return {f.bytes, f.y, f.target, f.before, f.after, f.iterations}; }
Finalized finalized_of(const KeptBatches::Batch& t) {
  return {.bytes = t.at(0), .y = t.at(1), .target = t.at(2), .before = t.at(3), .after = t.at(4), .iterations = t.at(5)};
}

template <class Part>
Tensor joined(const std::vector<Finalized>& parts, Part part) {
  std::vector<Tensor> tensors;
  for (const auto& p : parts) tensors.push_back(p.*part);
  return torch::cat(tensors);
}

Finalized restore_batch(const Denoiser& prior, const BackProjector& g, const RestorerConfig& config, const RestorationTask& task,
                        std::int64_t first, std::int64_t last, Observer& observer) {
  const auto target = task.target(first, last);
  const auto finished_at = [&](const Tensor& x, const Target& aim) {
    if (!task.large.make) return finalize(g, x, aim, config.finalize);
    return finalize(*task.large.g, task.large.make(x, first, last, observer), aim, config.finalize);
  };
  const auto seeds = task.seeds.slice(first, last);
  auto start = task.start;
  if (start.photo.defined()) start.photo = start.photo.slice(0, first, last);
  std::vector<std::string> names;
  if (!task.names.empty()) names = {task.names.begin() + first, task.names.begin() + last};
  if (config.photo && start.photo.defined()) {
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(last - first));
    std::iota(numbers.begin(), numbers.end(), first);
    SomeImages batch(observer, numbers, names);
    const auto edit = edit_photo(prior, g, start.photo, target, task.place, *config.photo, config.sampler, seeds, batch);
    return finished_at(edit.x, fixed(edit.y));
  }
  if (!config.diffuse) {
    require(start.photo.defined(), "restore", "a photo to back-project", "none");
    return finished_at(moved_at_once(g, start.photo, target), target);
  }
  auto correction = back_projection(g, {.aim = at_every_step(target), .guidance = task.guidance, .window = config.window});
  if (config.hold && start.photo.defined()) {
    const auto photo = start.photo;
    start.photo = moved_at_once(g, photo, target);
    correction = holding(std::move(correction), photo, changed_places(photo, start.photo, *config.hold));
  }
  return finished_at(sample(prior, config.sampler, seeds, observer, with_previews(correction, observer, first, std::move(names)), start), target);
}

}  // namespace

Finalized restore(const Denoiser& prior, const BackProjector& g, const RestorerConfig& config, const RestorationTask& task,
                  Observer& observer) {
  require(prior.shape() == g.in_shape(), "restore", fmt::format("a prior of {} images, as the network has", to_string(g.in_shape())),
          to_string(prior.shape()));
  require(config.sampler.clamp, "restore", "a sampler that clamps x̂0", "one that does not",
          "a network outside the range it was trained on is no guide");
  PartOfWhole progress(observer, batches_of(task.seeds.size(), config.batch));
  std::vector<Finalized> parts;
  const auto make = [&](std::int64_t first, std::int64_t last) {
    progress.part = first / config.batch;
    return tensors_of(restore_batch(prior, g, config, task, first, last, progress));
  };
  in_batches(task.seeds.size(), {.size = config.batch, .kept = task.kept}, observer, make, [&](std::int64_t first, const KeptBatches::Batch& batch) {
    parts.push_back(finalized_of(batch));
    if (task.on_batch) task.on_batch(first, parts.back());
  });
  return {.bytes = joined(parts, &Finalized::bytes),
          .y = joined(parts, &Finalized::y),
          .target = joined(parts, &Finalized::target),
          .before = joined(parts, &Finalized::before),
          .after = joined(parts, &Finalized::after),
          .iterations = joined(parts, &Finalized::iterations)};
}

Tensor sample_all(const Denoiser& prior, const SamplerConfig& config, const ImageSeeds& seeds, const Batching& batching, Observer& observer,
                  const std::function<void(std::int64_t first, const Tensor& bytes)>& on_batch) {
  PartOfWhole progress(observer, batches_of(seeds.size(), batching.size));
  std::vector<Tensor> parts;
  const auto make = [&](std::int64_t first, std::int64_t last) {
    progress.part = first / batching.size;
    return KeptBatches::Batch{to_bytes(sample(prior, config, seeds.slice(first, last), progress, with_previews({}, progress, first)))};
  };
  in_batches(seeds.size(), batching, observer, make, [&](std::int64_t first, const KeptBatches::Batch& batch) {
    parts.push_back(batch.at(0));
    if (on_batch) on_batch(first, parts.back());
  });
  return torch::cat(parts);
}

}  // namespace spnn
