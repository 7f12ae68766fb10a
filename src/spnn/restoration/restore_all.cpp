#include <spnn/core/errors.h>
#include <spnn/image/image.h>
#include <spnn/restoration/restore_all.h>

#include <algorithm>

namespace spnn {
namespace {

// The steps of all batches as one count, so that the time left is that of the whole job.
class WholeJob final : public Observer {
 public:
  WholeJob(Observer& observer, std::int64_t count, std::int64_t batch)
      : observer_(observer), batches_((count + batch - 1) / batch) {}
  void progress(std::int64_t done, std::int64_t total, const std::string& what) override {
    observer_.progress(current * total + done, batches_ * total, what);
  }
  void message(const std::string& text) override { observer_.message(text); }
  bool cancelled() const override { return observer_.cancelled(); }

  std::int64_t current = 0;

 private:
  Observer& observer_;
  std::int64_t batches_;
};

void require_counts(std::int64_t count, std::int64_t batch) {
  require(count >= 1, "images", "one or more", std::to_string(count));
  require(batch >= 1, "batch", "1 or more", std::to_string(batch));
}

template <class Part>
Tensor joined(const std::vector<Finalized>& parts, Part part) {
  std::vector<Tensor> tensors;
  for (const auto& p : parts) tensors.push_back(p.*part);
  return torch::cat(tensors);
}

}  // namespace

Finalized restore_all(const Denoiser& prior, const BackProjector& g, const RestorationPlan& plan, Observer& observer) {
  require_counts(plan.count, plan.batch);
  WholeJob progress(observer, plan.count, plan.batch);
  std::vector<Finalized> parts;
  for (std::int64_t first = 0; first < plan.count; first += plan.batch, ++progress.current) {
    const auto task = plan.task(first, std::min(first + plan.batch, plan.count));
    const auto x = restore(prior, g, plan.restorer, task, progress);
    parts.push_back(finalize(g, x, task.target, plan.finalize));
    if (plan.on_batch) plan.on_batch(first, parts.back());
  }
  return {.bytes = joined(parts, &Finalized::bytes),
          .y = joined(parts, &Finalized::y),
          .before = joined(parts, &Finalized::before),
          .after = joined(parts, &Finalized::after),
          .iterations = joined(parts, &Finalized::iterations)};
}

Tensor sample_all(const Denoiser& prior, const SamplerConfig& config, std::uint64_t first_seed, std::int64_t count,
                  std::int64_t batch, Observer& observer) {
  require_counts(count, batch);
  WholeJob progress(observer, count, batch);
  std::vector<Tensor> parts;
  for (std::int64_t first = 0; first < count; first += batch, ++progress.current) {
    const ImageSeeds seeds(first_seed + static_cast<std::uint64_t>(first), std::min(batch, count - first));
    parts.push_back(to_bytes(sample(prior, config, seeds, progress)));
  }
  return torch::cat(parts);
}

}  // namespace spnn
