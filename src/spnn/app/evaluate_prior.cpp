#include <spnn/app/engine_impl.h>
#include <spnn/app/experiment.h>
#include <spnn/core/errors.h>
#include <spnn/core/stopwatch.h>
#include <spnn/image/grid.h>
#include <spnn/image/resize.h>

namespace spnn::app {
namespace {

// What a quarter of the resolution leaves: a prior worth the name is nearer to real images than these are.
Tensor reduced_and_enlarged(const Tensor& images) {
  const auto side = images.size(2);
  return resize(resize(images, side / 4, side / 4), side, side);
}

}  // namespace

ExperimentResult evaluate_prior(const PriorExperiment& job, Observer& observer) {
  const torch::NoGradGuard no_grad;
  const auto prior = load_prior(model_file(job.models.prior, job.models.family, "prior"));
  const auto judge_file = model_file(job.models.judge, job.models.family, "judge");
  const auto judge = load_judge(judge_file);
  require(judge.net->in_shape() == prior->shape(), judge_file, fmt::format("a judge of {} images", to_string(prior->shape())),
          to_string(judge.net->in_shape()));
  const auto held_out = load_held_out(job.data, prior->shape(), observer);
  const auto train = load_dataset(job.data, {.split = Split::train, .size = prior->shape().height,
                                             .channels = prior->shape().channels, .limit = job.samples}, &observer);
  const Stopwatch watch;
  const auto samples = sample_all(*prior, sampler_config(job.sampling), job.seed, job.samples, job.sampling.batch, observer);
  const double seconds = watch.seconds() / double(job.samples);

  const auto features = [&](const Tensor& images) { return gaussian_of(opinion_on(*judge.net, images).features); };
  const auto reference = features(held_out.images);
  const double frechet = frechet_distance(features(samples), reference);
  const double real = frechet_distance(features(train.images), reference);
  const double reduced = frechet_distance(features(reduced_and_enlarged(held_out.images)), reference);

  const Table table{.title = fmt::format("Fréchet distance to {} held-out images, judge features", held_out.size()),
                    .columns = {"images", "number", "distance"},
                    .rows = {{"samples of the prior", std::to_string(job.samples), fmt::format("{:.2f}", frechet)},
                             {"training images", std::to_string(train.size()), fmt::format("{:.2f}", real)},
                             {"held-out, reduced to a quarter and enlarged", std::to_string(held_out.size()), fmt::format("{:.2f}", reduced)}}};
  const Json json = {{"samples", job.samples}, {"frechet", frechet}, {"frechet_real", real}, {"frechet_reduced", reduced},
                     {"seconds_per_sample", seconds}, {"samples_per_second", 1 / seconds}, {"sampling", to_json(job.sampling)}};
  const auto sentence = fmt::format("{:.3f} s a sample ({} steps of {}).", seconds, job.sampling.steps, job.sampling.sampler);
  ExperimentResult out{.summary = text_table(table) + sentence + "\n", .json = json.dump(2), .page = {}};
  const auto sheet = grid(samples.slice(0, 0, std::min<std::int64_t>(64, job.samples)), {.columns = 8, .scale = 2});
  save_images(job.output, {"samples.png"}, sheet.unsqueeze(0));
  if (!job.report.empty()) {
    out.page = add_to_report(job.report, {.name = "prior", .title = "The prior", .command = job.command, .order = 5,
                                          .text = {sentence}, .tables = {table}, .charts = {},
                                          .pictures = {picture("Unguided samples", sheet)}}).string();
  }
  return out;
}

}  // namespace spnn::app
