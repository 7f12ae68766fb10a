#include <spnn/engine/engine.h>
#include <spnn/jobs/flow_images.h>
#include <spnn/jobs/write_json.h>
#include <spnn/checkpoint/load_flow.h>
#include <spnn/core/errors.h>
#include <spnn/core/io.h>
#include <spnn/core/stopwatch.h>
#include <spnn/flows/dequantise.h>
#include <spnn/image/grid.h>
#include <spnn/layers/init.h>
#include <spnn/training/density.h>

#include <algorithm>
#include <cmath>

namespace spnn::engine {
namespace {

void require_place_of(const std::string& file) {
  std::filesystem::create_directories(std::filesystem::absolute(file).parent_path());
  require_writable(file);
}

// Files as the flow wants them, uint8 [N, C, H, W].
Tensor read_images(const std::vector<std::string>& files, const Shape& shape) {
  std::vector<Tensor> images;
  for (const auto& file : files) {
    const auto image = read_image(file);
    images.push_back(fit(shape.channels == 1 ? as_grey(image) : as_rgb(image), shape.height, std::nullopt, file));
  }
  return torch::stack(images);
}

}  // namespace

DensitySampleReport Engine::sample_density(const DensitySampleJob& job, Observer& observer) {
  const torch::NoGradGuard no_grad;
  const auto flow = load_flow(job.model);
  require_place_of(job.output);
  const Stopwatch watch;
  std::vector<Tensor> all;
  for (std::int64_t i = 0; i < job.count; i += job.batch) {
    const auto x = flow->sample({.rng = Rng(job.seed), .count = std::min(job.batch, job.count - i),
                                 .first = static_cast<std::uint64_t>(i), .temperature = job.temperature});
    all.push_back(quantised_bytes(x, flow->config().bits));
    observer.progress(std::min(i + job.batch, job.count), job.count, "images");
    if (observer.cancelled() && i + job.batch < job.count) {
      write_image(job.output, grid(torch::cat(all), {.columns = job.columns, .scale = job.scale}));
      throw Interrupted(fmt::format("interrupted; the {} images that were finished are in {}", i + job.batch, job.output));
    }
  }
  const DensitySampleReport report{.images = job.count, .seconds_per_image = watch.seconds() / static_cast<double>(job.count)};
  write_image(job.output, grid(torch::cat(all), {.columns = job.columns, .scale = job.scale}));
  write_json(job.json, {{"model", job.model}, {"images", report.images}, {"seed", job.seed}, {"temperature", job.temperature},
                        {"seconds_per_image", report.seconds_per_image}});
  return report;
}

DensityInterpolateReport Engine::interpolate_density(const DensityInterpolateJob& job, Observer& observer) {
  const torch::NoGradGuard no_grad;
  const auto flow = load_flow(job.model);
  const auto& config = flow->config();
  if (job.images.size() % 2 != 0) {
    throw UsageError(fmt::format("density interpolate: expected pairs of images, got {} files", job.images.size()));
  }
  if (job.images.empty() && job.data.empty()) {
    throw UsageError("density interpolate: expected pairs of images or --data, got neither");
  }
  const auto images = job.images.empty() ? load_for_flow(job.data, split_from(job.split), config, 2 * job.pairs).images
                                         : read_images(job.images, config.input);
  require_place_of(job.output);
  const auto x = dequantise(images, config.bits, torch::full(images.sizes(), 0.5));
  const auto latent = flow->observe(x, flow->noise(x.size(0), Rng(0))).yz;
  const auto pairs = images.size(0) / 2;
  DensityInterpolateReport report{.pairs = pairs, .largest_error = (flow->invert(latent) - x).abs().max().item<double>()};
  const auto every_second = [&](const Tensor& all, std::int64_t from) { return all.slice(0, from, 2 * pairs, 2); };
  Completion a{every_second(latent.y, 0), {}}, b{every_second(latent.y, 1), {}};
  for (const auto& z : latent.z) {
    a.z.push_back(every_second(z, 0));
    b.z.push_back(every_second(z, 1));
  }
  std::vector<Tensor> columns;
  for (std::int64_t k = 0; k < job.steps; ++k) {
    const double t = job.steps > 1 ? static_cast<double>(k) / static_cast<double>(job.steps - 1) : 0;
    columns.push_back(quantised_bytes(flow->invert(a + t * (b - a)), config.bits));
    observer.progress(k + 1, job.steps, "columns");
  }
  write_image(job.output, grid(torch::stack(columns, 1).flatten(0, 1), {.columns = job.steps, .scale = job.scale}));
  write_json(job.json, {{"model", job.model}, {"pairs", pairs}, {"steps", job.steps}, {"largest_error", report.largest_error}});
  return report;
}

DensityFigures Engine::evaluate_density(const DensityEvaluateJob& job, Observer& observer) {
  const torch::NoGradGuard no_grad;
  const auto flow = load_flow(job.model);
  const auto& config = flow->config();
  const auto set = load_for_flow(job.data, split_from(job.split), config, job.count);
  observer.message(fmt::format("{}: {} images of the split '{}', {}", set.name, set.size(), job.split, set.split_rule));
  const Stopwatch watch;
  Tensor bits;
  for (std::int64_t k = 0; k < job.draws; ++k) {
    const auto draw = bits_per_dim_over(*flow, set.images, Rng(job.seed).fork(static_cast<std::uint64_t>(k))).to(torch::kFloat64);
    bits = bits.defined() ? bits + draw : draw;
    observer.progress(k + 1, job.draws, "draws");
  }
  bits = bits / static_cast<double>(job.draws);
  const auto count = static_cast<double>(set.size());
  DensityFigures out{.name = config.name, .images = set.size(), .dimensions = config.input.size(), .bits = config.bits,
                     .parameters = parameter_count(*flow), .bits_per_dim = bits.mean().item<double>(),
                     .standard_error = set.size() > 1 ? bits.std().item<double>() / std::sqrt(count) : 0,
                     .milliseconds_per_image = 1000 * watch.seconds() / (count * static_cast<double>(job.draws))};
  write_json(job.json, {{"model", job.model}, {"name", out.name}, {"data", job.data}, {"split", job.split},
                        {"images", out.images}, {"dimensions", out.dimensions}, {"bits", out.bits},
                        {"parameters", out.parameters}, {"bits_per_dim", out.bits_per_dim},
                        {"standard_error", out.standard_error}, {"milliseconds_per_image", out.milliseconds_per_image},
                        // Two models on the same images differ with a smaller error than each of them has.
                        {"per_image", std::vector<double>(bits.data_ptr<double>(), bits.data_ptr<double>() + bits.numel())}});
  return out;
}

}  // namespace spnn::engine
