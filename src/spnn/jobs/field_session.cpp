#include <spnn/restoration/previews.h>
#include <spnn/engine/engine.h>
#include <spnn/jobs/field_session.h>
#include <spnn/jobs/restoration_session.h>
#include <spnn/core/errors.h>
#include <spnn/core/stopwatch.h>
#include <spnn/image/image.h>

#include <algorithm>
#include <ctime>

namespace spnn::engine {

FieldCatalogue Engine::field_catalogue() {
  FieldCatalogue all;
  for (const auto& o : operator_catalogue()) all.operators.push_back({o.name, o.parameters, o.what, o.pseudo_inverse});
  for (const auto& b : black_box_catalogue()) all.black_boxes.push_back({b.name, b.parameters, b.what});
  for (const auto& m : method_catalogue()) all.methods.push_back({m.name, m.what, m.linear_only, m.knows_noise});
  return all;
}

MethodConfig method_config(const MethodOptions& o, const SamplingOptions& sampling, torch::Device device) {
  return {.sampler = sampler_config(sampling, device), .lambda = o.lambda, .exact = o.exact, .gradient = o.gradient, .eta = o.ddrm_eta, .eta_b = o.ddrm_eta_b,
          .langevin = o.langevin, .langevin_step = o.langevin_step, .repaint = {.length = o.repaint_length, .repeat = o.repaint_repeat},
          .iterations = o.iterations, .more = o.more};
}

KeptBatches::Batch tensors_of(const Solved& s) {
  return {s.bytes, s.sampled, s.saved, torch::tensor({static_cast<double>(s.evaluations), s.seconds, s.processor_seconds}, torch::kFloat64)};
}

Solved solved_of(const KeptBatches::Batch& batch) {
  const auto* numbers = batch.at(3).data_ptr<double>();
  return {.bytes = batch.at(0), .sampled = batch.at(1), .saved = batch.at(2), .evaluations = static_cast<std::int64_t>(numbers[0]),
          .seconds = numbers[1], .processor_seconds = numbers[2]};
}

Solved solve(const std::string& method, const FieldProblem& problem, const MethodConfig& config, Observer& observer, std::int64_t first) {
  const torch::NoGradGuard no_grad;
  WatchedDenoiser::Show show;
  if (observer.wants_previews()) {
    show = [&, steps = evaluations(config.sampler, problem.prior.schedule())](const Tensor& x0, std::int64_t t, std::int64_t call) {
      with_previews({}, observer, first)({.x0_hat = x0, .x_t = x0, .t = t, .index = call - 1, .total = steps});
    };
  }
  const WatchedDenoiser prior(problem.prior, show);
  const Stopwatch watch;
  const auto began = std::clock();
  const auto x = restore_by(method, {.prior = prior, .g = problem.g, .y = problem.y, .sigma_y = problem.sigma_y, .seeds = ImageSeeds(problem.seeds)},
                            config, observer);
  Solved out{.bytes = to_bytes(x), .sampled = problem.g.inconsistency(x, problem.y), .saved = {}, .evaluations = prior.calls()};
  out.seconds = watch.seconds();
  out.saved = problem.g.inconsistency(to_unit(out.bytes), problem.y);
  out.processor_seconds = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
  return out;
}

Degradation open_degradation(const LoadedModels& loaded, DegradationChoice choice) {
  if (const auto file = network_file(choice.spec)) choice.network = loaded.operator_network(*file);
  return make_degradation(choice, loaded.large_prior()->shape());
}

Tensor measured_picture(const Degradation& g, const Tensor& y, const Tensor& clean) {
  return g.has_truth() && clean.defined() ? g.fitted->D(to_unit(clean)) : g.picture(y);
}

std::vector<std::uint64_t> seeds_from(std::uint64_t first, std::int64_t count) {
  std::vector<std::uint64_t> seeds;
  for (std::int64_t i = 0; i < count; ++i) seeds.push_back(first + static_cast<std::uint64_t>(i));
  return seeds;
}

Tensor figure_of_measurement(const Degradation& g, const Tensor& y, const Tensor& clean) {
  auto bytes = to_bytes(measured_picture(g, y, clean));
  const auto shape = g.in_shape();
  const auto grow = std::max<std::int64_t>(1, shape.height / bytes.size(2));
  bytes = bytes.repeat_interleave(grow, 2).repeat_interleave(grow, 3);
  return bytes.expand({bytes.size(0), shape.channels, bytes.size(2), bytes.size(3)});
}

std::vector<std::string> image_files(const std::vector<std::string>& given) {
  std::vector<std::string> files;
  for (const auto& path : given) {
    if (!std::filesystem::is_directory(path)) {
      require(std::filesystem::exists(path), path, "an image or a folder of images", "nothing there");
      files.push_back(path);
      continue;
    }
    std::vector<std::string> inside;
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      if (entry.is_regular_file() && has_image_extension(entry.path())) inside.push_back(entry.path().string());
    }
    require(!inside.empty(), path, "a folder with images (.png, .jpg, .webp)", "none in it");
    std::ranges::sort(inside);
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

}  // namespace spnn::engine
