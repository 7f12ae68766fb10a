#include <spnn/core/errors.h>
#include <spnn/core/io.h>
#include <spnn/core/part_of_whole.h>
#include <spnn/core/stopwatch.h>
#include <spnn/image/grid.h>
#include <spnn/image/image.h>
#include <spnn/jobs/pictures.h>
#include <spnn/jobs/session.h>
#include <spnn/jobs/restoration_session.h>

namespace spnn::engine {

Tensor sample_large(const Denoiser& prior, const std::shared_ptr<const Upscaler>& second, const SamplingOptions& sampling, const ImageSeeds& seeds,
                    const std::shared_ptr<KeptBatches>& kept, Observer& observer, const std::function<void(std::int64_t first, const Tensor& bytes)>& on_batch) {
  PartOfWhole progress(observer, 2 * ((seeds.size() + sampling.batch - 1) / sampling.batch));
  std::vector<Tensor> parts;
  const auto make = [&](std::int64_t first, std::int64_t last) {
    const auto some = seeds.slice(first, last);
    progress.part = 2 * (first / sampling.batch);
    const auto small = spnn::sample(prior, sampler_config(sampling, second->parameters().front().device()), some, progress).clamp(-1, 1);
    ++progress.part;
    return KeptBatches::Batch{to_bytes(upscale(second, small, upscale_config(sampling), some, progress))};
  };
  in_batches(seeds.size(), {.size = sampling.batch, .kept = kept}, observer, make, [&](std::int64_t first, const KeptBatches::Batch& batch) {
    parts.push_back(batch.at(0));
    if (on_batch) on_batch(first, parts.back());
  });
  return torch::cat(parts);
}

SampleResult TorchSession::sample(const SampleRequest& wish, Observer& observer) const {
  const torch::NoGradGuard no_grad;
  const Stopwatch since;
  SampleResult result;
  const auto prior = loaded_.prior();
  result.timings.loading = since.seconds();
  const std::filesystem::path output(wish.output);
  const bool one_sheet = output.extension() == ".png", files = !wish.output.empty() && !one_sheet;
  if (!wish.output.empty()) require_writable_folder(one_sheet ? std::filesystem::absolute(output).parent_path() : output);
  if (one_sheet) require_writable(output);
  std::vector<Tensor> finished;
  const auto take = [&](std::int64_t first, const Tensor& bytes) {
    if (one_sheet) finished.push_back(bytes.to(torch::kCPU));
    for (std::int64_t i = 0; i < bytes.size(0); ++i) {
      if (files) write_image(output / fmt::format("{:06}.png", wish.seed + static_cast<std::uint64_t>(first + i)), bytes[i]);
      result.images.push_back(to_image(bytes[i]));
    }
  };
  result.timings.until_first_step = since.seconds();
  const ImageSeeds seeds(wish.seed, wish.count);
  const auto second = loaded_.upscaler();
  try {
    const auto kept = kept_batches(wish.sampling);
    if (second) sample_large(*prior, second, wish.sampling, seeds, kept, observer, take);
    else sample_all(*prior, sampler_config(wish.sampling, loaded_.device()), seeds, {.size = wish.sampling.batch, .kept = kept}, observer, take);
  } catch (const Interrupted&) {
    if (finished.empty()) throw;
    write_image(output, grid(torch::cat(finished)));
    throw Interrupted(fmt::format("interrupted; the {} images that were finished are in {}", result.images.size(), wish.output));
  }
  if (one_sheet) write_image(output, grid(torch::cat(finished)));
  result.timings.total = since.seconds();
  result.timings.per_image = (result.timings.total - result.timings.until_first_step) / static_cast<double>(wish.count);
  return result;
}

}  // namespace spnn::engine
