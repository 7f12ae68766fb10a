#include <spnn/engine/engine.h>
#include <spnn/jobs/experiment.h>
#include <spnn/core/errors.h>
#include <spnn/core/stopwatch.h>
#include <spnn/evaluation/detail_measures.h>
#include <spnn/evaluation/grid_energy.h>
#include <spnn/image/grid.h>
#include <spnn/image/resize.h>

namespace spnn::engine {
namespace {

// What a quarter of the resolution leaves: a prior worth the name is nearer to real images than these are.
Tensor reduced_and_enlarged(const Tensor& images) {
  const auto side = images.size(2);
  return resize(resize(images, side / 4, side / 4), side, side);
}

// Fréchet distances in the features of one network.
struct Distances {
  double samples = 0, train = 0, reduced = 0;
};

template <class Features>   // of uint8 images, [N, F]
Distances distances_in(const Features& features, const Tensor& samples, const Tensor& train, const Tensor& held_out) {
  const auto reference = gaussian_of(features(held_out));
  const auto to_reference = [&](const Tensor& images) { return frechet_distance(gaussian_of(features(images)), reference); };
  return {to_reference(samples), to_reference(train), to_reference(reduced_and_enlarged(held_out))};
}

Tensor embeddings_of(const Identity& net, const Tensor& images) {
  std::vector<Tensor> parts;
  for (std::int64_t i = 0; i < images.size(0); i += 64) parts.push_back(net.embed(to_unit(images.slice(0, i, std::min(i + 64, images.size(0))))));
  return torch::cat(parts);
}

// Distances to the nearest training image: the median, and what one in a hundred is below.
struct Nearest {
  double median = 0, hundredth = 0;
};

Nearest nearest_in(const Tensor& images, const Tensor& training) {
  const auto d = nearest_distances(images, training);
  return {d.median().item<double>(), d.quantile(0.01).item<double>()};
}

}  // namespace

ExperimentResult Engine::evaluate_prior(const PriorExperiment& job, Observer& observer) {
  const torch::NoGradGuard no_grad;
  const auto device = device_from(job.device);
  const auto prior = open_prior(job.models, device);
  const auto judge_file = model_file(job.models.judge, job.models.family, "judge");
  const auto judge = load_judge(judge_file);
  require(judge.net->in_shape() == prior->shape(), judge_file, fmt::format("a judge of {} images", to_string(prior->shape())),
          to_string(judge.net->in_shape()));
  const auto held_out = load_held_out(job.data, prior->shape(), observer, job.held_out);
  const auto training = load_dataset(job.data, {.split = Split::train, .size = prior->shape().height, .channels = prior->shape().channels}, &observer);
  const auto train = training.images.slice(0, 0, std::min(training.size(), job.samples));
  const Stopwatch watch;
  const auto samples = sample_all(*prior, sampler_config(job.sampling, device), ImageSeeds(job.seed, job.samples),
                                  {.size = job.sampling.batch, .kept = kept_batches(job.sampling)}, observer).to(torch::kCPU);
  const double seconds = watch.seconds() / double(job.samples);

  const auto d = distances_in([&](const Tensor& images) { return opinion_on(*judge.net, images).features; }, samples, train, held_out.images);
  const auto grid_of = [](const Tensor& images) { return grid_energy(to_unit(images), 2); };
  const double grid_samples = grid_of(samples), grid_train = grid_of(train);
  Table table{.title = fmt::format("Fréchet distance to {} held-out images; grid of 2 pixels (1: none)", held_out.size()),
              .columns = {"images", "number", "grid", "judge features"},
              .rows = {{"samples of the prior", std::to_string(job.samples), fmt::format("{:.2f}", grid_samples), fmt::format("{:.2f}", d.samples)},
                       {"training images", std::to_string(train.size(0)), fmt::format("{:.2f}", grid_train), fmt::format("{:.2f}", d.train)},
                       {"held-out, reduced to a quarter and enlarged", std::to_string(held_out.size()), "", fmt::format("{:.2f}", d.reduced)}}};
  Json json = {{"samples", job.samples}, {"frechet", d.samples}, {"frechet_real", d.train}, {"frechet_reduced", d.reduced},
               {"grid", {{"samples", grid_samples}, {"real", grid_train}}},
               {"seconds_per_sample", seconds}, {"samples_per_second", 1 / seconds}, {"sampling", to_json(job.sampling)}};
  if (!job.identity.empty()) {
    const auto net = load_identity(job.identity);
    const auto i = distances_in([&](const Tensor& images) { return embeddings_of(*net, images); }, samples, train, held_out.images);
    table.columns.push_back("identity features");
    const double column[] = {i.samples, i.train, i.reduced};
    for (std::size_t k = 0; k < 3; ++k) table.rows[k].push_back(fmt::format("{:.4f}", column[k]));
    json["frechet_identity"] = {{"samples", i.samples}, {"real", i.train}, {"reduced", i.reduced}};
  }
  auto sentence = fmt::format("{:.3f} s a sample ({} steps of {}).", seconds, job.sampling.steps, job.sampling.sampler);
  if (prior->shape().height % 16 == 0) {
    const auto of_samples = nearest_in(samples, training.images), unseen = nearest_in(held_out.images, training.images);
    sentence += fmt::format(" Distance to the nearest of {} training images at 16×16: median {:.4f}, one in a hundred below {:.4f}; of held-out images {:.4f} and {:.4f}.",
                            training.size(), of_samples.median, of_samples.hundredth, unseen.median, unseen.hundredth);
    json["nearest"] = {{"samples", {of_samples.median, of_samples.hundredth}}, {"held_out", {unseen.median, unseen.hundredth}}};
  }
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

}  // namespace spnn::engine
