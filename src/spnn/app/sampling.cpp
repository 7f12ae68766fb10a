#include <spnn/app/engine_impl.h>
#include <spnn/core/errors.h>
#include <spnn/core/stopwatch.h>
#include <spnn/diffusion/load_prior.h>
#include <spnn/diffusion/sampler.h>
#include <spnn/image/grid.h>
#include <spnn/image/image.h>

#include <algorithm>

namespace spnn::app {
namespace {

// Steps of all batches as one count, so that the time left is that of the whole job.
class BatchProgress final : public Observer {
 public:
  BatchProgress(Observer& whole, std::int64_t batches) : whole_(whole), batches_(batches) {}
  void progress(std::int64_t done, std::int64_t total, const std::string& what) override {
    whole_.progress(batch * total + done, batches_ * total, what);
  }
  bool cancelled() const override { return whole_.cancelled(); }
  std::int64_t batch = 0;

 private:
  Observer& whole_;
  std::int64_t batches_;
};

}  // namespace

SampleReport sample(const SampleJob& job, Observer& observer) {
  torch::NoGradGuard no_grad;
  const auto prior = load_prior(job.prior);
  const SamplerConfig config{.kind = sampler_from(job.sampler),
                             .steps = job.steps,
                             .eta = job.eta,
                             .travel = {.length = job.travel_length, .repeat = job.travel_repeat}};
  const std::filesystem::path output(job.output);
  const bool one_grid = output.extension() == ".png";
  std::filesystem::create_directories(one_grid ? std::filesystem::absolute(output).parent_path() : output);
  const Stopwatch watch;
  BatchProgress progress(observer, (job.count + job.batch - 1) / job.batch);
  std::vector<Tensor> all;
  for (std::int64_t i = 0; i < job.count; i += job.batch, ++progress.batch) {
    const ImageSeeds seeds(job.seed + static_cast<std::uint64_t>(i), std::min(job.batch, job.count - i));
    const auto images = to_bytes(spnn::sample(*prior, config, seeds, progress));
    if (one_grid) {
      all.push_back(images);
      continue;
    }
    for (std::int64_t k = 0; k < images.size(0); ++k) {
      write_image(output / fmt::format("{:06}.png", job.seed + static_cast<std::uint64_t>(i + k)), images[k]);
    }
  }
  if (one_grid) write_image(output, grid(torch::cat(all)));
  return {.images = job.count, .seconds_per_image = watch.seconds() / static_cast<double>(job.count)};
}

}  // namespace spnn::app
