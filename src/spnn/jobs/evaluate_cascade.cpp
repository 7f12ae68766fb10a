#include <spnn/core/errors.h>
#include <spnn/core/stopwatch.h>
#include <spnn/evaluation/detail_measures.h>
#include <spnn/evaluation/image_quality.h>
#include <spnn/image/grid.h>
#include <spnn/image/resize.h>
#include <spnn/engine/engine.h>
#include <spnn/jobs/experiment.h>

namespace spnn::engine {
namespace {

// What is measured of a set of large images: of 64-pixel crops at full size, of the small images, and how much fine detail there is.
class LargeImages {
 public:
  LargeImages(const Judge& judge, const Tensor& held_out, std::uint64_t seed) : judge_(judge), seed_(seed) {
    crops_ = gaussian_of(features_of_crops(held_out, 0));
    small_ = gaussian_of(small_features(held_out));
    energy_ = energy_above_half_band(held_out);
  }

  std::vector<std::string> row(const std::string& name, const Tensor& images, Json& json) const {
    const double crops = frechet_distance(gaussian_of(features_of_crops(images, 1)), crops_);
    const double small = frechet_distance(gaussian_of(small_features(images)), small_);
    const double energy = energy_above_half_band(images) / energy_;
    json["rows"].push_back({{"images", name}, {"count", images.size(0)}, {"frechet_crops", crops}, {"frechet_small", small}, {"energy", energy}});
    return {name, std::to_string(images.size(0)), fmt::format("{:.2f}", crops), fmt::format("{:.2f}", small), fmt::format("{:.2f}", energy)};
  }

 private:
  Tensor features_of_crops(const Tensor& images, std::uint64_t stream) const { return crop_features(judge_, images, Rng(seed_).fork(stream)); }
  Tensor small_features(const Tensor& images) const { return opinion_on(judge_, pooled_to(judge_.in_shape(), images)).features; }

  const Judge& judge_;
  std::uint64_t seed_;
  Gaussian crops_, small_;
  double energy_ = 0;
};

Tensor bicubic(const Tensor& small, std::int64_t size) { return to_bytes(resize(small, size, size).clamp(-1, 1)); }

// Photos made small and large again, in batches.
Tensor made_again(const std::shared_ptr<const Upscaler>& second, const Tensor& photos, const SamplingOptions& sampling, std::uint64_t seed,
                  const std::shared_ptr<KeptBatches>& kept, Observer& observer) {
  std::vector<Tensor> parts;
  const auto make = [&](std::int64_t first, std::int64_t last) {
    const auto low = second->low(to_unit(photos.slice(0, first, last)).to(second->parameters().front().device()));
    return KeptBatches::Batch{to_bytes(upscale(second, low, upscale_config(sampling), ImageSeeds(seed + std::uint64_t(first), low.size(0)), observer))};
  };
  const auto take = [&](std::int64_t, const KeptBatches::Batch& batch) { parts.push_back(batch.at(0).to(torch::kCPU)); };
  in_batches(photos.size(0), {.size = sampling.batch, .kept = kept}, observer, make, take);
  return torch::cat(parts);
}

}  // namespace

ExperimentResult Engine::evaluate_cascade(const CascadeExperiment& job, Observer& observer) {
  const torch::NoGradGuard no_grad;
  const auto device = device_from(job.device);
  const auto prior = open_prior(job.models, device);
  const auto loaded = load_upscaler(model_file(job.models.upscaler, "celebahq256", "upscaler"));
  loaded->to(device);
  const std::shared_ptr<const Upscaler> second = loaded;
  const auto judge = load_judge(model_file(job.models.judge, job.models.family, "judge"));
  const auto size = second->config().image_size;
  const auto held_out = load_held_out(job.data, {3, size, size}, observer, job.held_out);
  const auto train = load_dataset(job.data, {.split = Split::train, .size = size, .channels = 3, .limit = job.samples}, &observer);
  const Stopwatch watch;
  const auto kept = kept_batches(job.sampling);
  const auto made = sample_large(*prior, second, job.sampling, ImageSeeds(job.seed, job.samples), kept, observer).to(torch::kCPU);
  const double seconds = watch.seconds() / double(job.samples);
  const auto photos = held_out.images.slice(0, 0, std::min(held_out.size(), job.photos));
  const auto again = made_again(second, photos, job.sampling, job.seed, kept, observer);
  const auto small = [&](const Tensor& large) { return second->low(to_unit(large).to(device)).to(torch::kCPU); };
  const auto enlarged = bicubic(small(photos), size);

  const LargeImages measures(*judge.net, held_out.images, job.seed);
  Json json = {{"samples", job.samples}, {"photos", photos.size(0)}, {"held_out", held_out.size()}, {"seconds_per_sample", seconds},
               {"sampling", to_json(job.sampling)}, {"rows", Json::array()}};
  const Table table{.title = fmt::format("Fréchet distance to {} held-out images, judge features; energy above half the band over theirs", held_out.size()),
                    .columns = {"images", "number", "crops of 64", "pooled to 64", "energy"},
                    .rows = {measures.row("samples of both stages", made, json),
                             measures.row("the same, first stage enlarged (bicubic)", bicubic(small(made), size), json),
                             measures.row("training images", train.images, json),
                             measures.row("held-out, made small and large again", again, json),
                             measures.row("held-out, made small and enlarged (bicubic)", enlarged, json)}};
  const double made_psnr = psnr(again, photos).mean().item<double>(), bicubic_psnr = psnr(enlarged, photos).mean().item<double>();
  json["psnr_again"] = made_psnr;
  json["psnr_bicubic"] = bicubic_psnr;
  const auto sentence = fmt::format("{:.2f} s a sample ({} steps of {}, {} of the second stage); photos made again {:.2f} dB, bicubic {:.2f} dB.", seconds,
                                    job.sampling.steps, job.sampling.sampler, job.sampling.detail_steps, made_psnr, bicubic_psnr);
  ExperimentResult out{.summary = text_table(table) + sentence + "\n", .json = json.dump(2), .page = {}};
  const auto sheet = grid(made.slice(0, 0, std::min<std::int64_t>(32, job.samples)), {.columns = 8});
  save_images(job.output, {"samples.png"}, sheet.unsqueeze(0));
  if (!job.report.empty()) {
    out.page = add_to_report(job.report, {.name = "cascade", .title = "Both stages", .command = job.command, .order = 6, .text = {sentence},
                                          .tables = {table}, .charts = {}, .pictures = {picture("Unguided samples", sheet)}}).string();
  }
  return out;
}

}  // namespace spnn::engine
