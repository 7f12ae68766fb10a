#include <spnn/app/engine_impl.h>
#include <spnn/app/part_of_whole.h>
#include <spnn/app/restoration_session.h>
#include <spnn/core/errors.h>
#include <spnn/core/stopwatch.h>
#include <spnn/diffusion/load_prior.h>
#include <spnn/diffusion/sampler.h>
#include <spnn/image/grid.h>
#include <spnn/image/image.h>

#include <algorithm>

namespace spnn::app {

SampleReport sample(const SampleJob& job, Observer& observer) {
  torch::NoGradGuard no_grad;
  const auto prior = load_prior(job.prior);
  const auto config = sampler_config(job.sampling);
  const auto batch = job.sampling.batch;
  const std::filesystem::path output(job.output);
  const bool one_grid = output.extension() == ".png";
  std::filesystem::create_directories(one_grid ? std::filesystem::absolute(output).parent_path() : output);
  const Stopwatch watch;
  PartOfWhole progress(observer, (job.count + batch - 1) / batch);
  std::vector<Tensor> all;
  for (std::int64_t i = 0; i < job.count; i += batch, ++progress.part) {
    const ImageSeeds seeds(job.seed + static_cast<std::uint64_t>(i), std::min(batch, job.count - i));
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
