#include "degradation.h"
#include "network.h"
#include "python_prior.h"

#include <spnn/core/nearest_names.h>
#include <spnn/restoration/method.h>
#include <spnn/restoration/restore.h>
#include <spnn/restoration/taken_once.h>

namespace spnn::python {
namespace {

using DenoiserPtr = std::shared_ptr<Denoiser>;

// Options come as a JSON object from keyword arguments that Python has checked.
SamplerConfig sampler_of(const Json& o) {
  return {.kind = sampler_from(o.at("sampler").get<std::string>()),
          .steps = o.at("steps").get<std::int64_t>(),
          .eta = o.at("eta").get<double>(),
          .travel = {.length = o.at("travel_length").get<std::int64_t>(), .repeat = o.at("travel_repeat").get<std::int64_t>()}};
}

MethodConfig method_of(const Json& o) {
  return {.sampler = sampler_of(o),
          .lambda = o.at("strength").get<double>(),
          .exact = o.at("exact").get<bool>(),
          .gradient = o.at("gradient").get<double>(),
          .eta = o.at("ddrm_eta").get<double>(),
          .eta_b = o.at("ddrm_eta_b").get<double>(),
          .langevin = o.at("langevin").get<std::int64_t>(),
          .langevin_step = o.at("langevin_step").get<double>(),
          .repaint = {.length = o.at("repaint_length").get<std::int64_t>(), .repeat = o.at("repaint_repeat").get<std::int64_t>()},
          .iterations = o.at("iterations").get<std::int64_t>(),
          .more = o.at("more").get<std::map<std::string, double>>()};
}

// x̂0 as the prior has it, shown to Python at every evaluation.
WatchedDenoiser shown_to(const Held& callback, const Denoiser& prior) {
  if (callback.none()) return WatchedDenoiser(prior);
  return WatchedDenoiser(prior, [callback](const Tensor& x0, std::int64_t, std::int64_t call) { callback.tell(call - 1, x0); });
}

Tensor sample_images(const Denoiser& prior, const std::string& options, const std::vector<std::uint64_t>& seeds, const Held& callback,
                     PythonObserver& observer) {
  const torch::NoGradGuard no_grad;
  return sample(shown_to(callback, prior), sampler_of(Json::parse(options)), ImageSeeds(seeds), observer);
}

Tensor restore_images(const Tensor& y, const BoundOperator& op, const Denoiser& prior, const std::string& method,
                      const std::vector<double>& sigmas, const std::string& options, const std::vector<std::uint64_t>& seeds, const Held& callback,
                      PythonObserver& observer) {
  const torch::NoGradGuard no_grad;
  require(y.isfinite().all().item<bool>(), "restore", "a measurement of finite numbers", "NaN or infinity among them");
  const auto shown = shown_to(callback, prior);
  return restore_by(method, {.prior = shown, .g = op.g, .y = y, .sigma_y = NoiseLevels(sigmas), .seeds = ImageSeeds(seeds)},
                    method_of(Json::parse(options)), observer);
}

// Guided sampling -------------------------------------------------------------------------------------------------

LogitStatistics statistics_of(const Network& n) {
  require(n.model.mean.defined() && n.model.covariance.defined(), "network", "statistics of its training outputs (net.fit_statistics)", "none");
  return {n.model.mean, n.model.covariance, n.model.exemplars};
}

Guidance guidance_of(const Json& o, const Tensor& controlled) {
  const auto schedule = o.at("schedule").get<std::string>();
  if (schedule == "constant") return constant_lambda(o.at("strength").get<double>());
  if (schedule == "two-level") {
    return two_level_lambda({.early = o.at("strength").get<double>(), .late = o.at("late").get<double>(), .below = o.at("late_below").get<std::int64_t>()});
  }
  if (schedule == "adaptive") {
    return adaptive_lambda({.alpha = o.at("alpha").get<double>(), .gamma = o.at("gamma").get<double>(), .controlled = controlled});
  }
  fail("schedule", "constant, two-level or adaptive", fmt::format("'{}'", schedule));
}

RestorerConfig restorer_of(const Json& o) {
  return {.sampler = sampler_of(o),
          .window = {.from = o.at("window_from").get<std::int64_t>(), .to = o.at("window_to").get<std::int64_t>(),
                     .every = o.at("every").get<std::int64_t>()},
          .finalize = {.iterations = o.at("final_projections").get<int>()},
          .batch = o.at("batch").get<std::int64_t>(),
          .diffuse = !o.at("fast").get<bool>()};
}

using GuidedResult = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor>;   // bytes, y, target, before, after

GuidedResult run(const Network& n, const Denoiser& prior, const Json& o, const RestorationTask& task, const Held& callback,
                 PythonObserver& observer) {
  const SpnnProjector g(n.model.net, {.pseudo_inverse = pseudo_inverse_from(o.at("pseudo_inverse").get<std::string>()),
                                      .metric = metric_from(o.at("metric").get<std::string>())});
  auto all = restore(shown_to(callback, prior), g, restorer_of(o), task, observer);
  return {all.bytes, all.y, all.target, all.before, all.after};
}

GuidedResult reconstruct_images(const Network& n, const Denoiser& prior, const Tensor& y, const std::string& options,
                                const std::vector<std::uint64_t>& seeds, const Held& callback, PythonObserver& observer) {
  const torch::NoGradGuard no_grad;
  require_input(y, n.weight, "reconstruct");
  require_shape(y, n.net().out_shape(), "reconstruct");
  const auto o = Json::parse(options);
  const RestorationTask task{.seeds = ImageSeeds(seeds),
                             .target = [&](std::int64_t first, std::int64_t last) { return fixed(y.slice(0, first, last)); },
                             .guidance = guidance_of(o, {})};
  return run(n, prior, o, task, callback, observer);
}

using Change = std::tuple<std::int64_t, bool, std::string>;

AttributeTargetConfig target_config(const std::vector<Change>& changes, double aim, double margin) {
  AttributeTargetConfig config{.strength = aim, .margin = margin};
  for (const auto& [attribute, present, strategy] : changes) {
    config.changes.push_back({.attribute = attribute, .present = present, .strategy = strategy_from(strategy)});
  }
  return config;
}

GuidedResult edit_images(const Network& n, const Denoiser& prior, const std::vector<Change>& changes, const std::optional<Tensor>& photos,
                         const std::string& options, const std::vector<std::uint64_t>& seeds, const Held& callback, PythonObserver& observer) {
  const torch::NoGradGuard no_grad;
  const auto o = Json::parse(options);
  if (photos) require_input(*photos, n.weight, "edit");
  const AttributeTarget target(statistics_of(n), target_config(changes, o.at("aim").get<double>(), o.at("margin").get<double>()));
  RestorationTask task{.seeds = ImageSeeds(seeds),
                       .target = [&](std::int64_t, std::int64_t) { return taken_once(target, statistics_of(n)); },
                       .guidance = guidance_of(o, target.controlled())};
  if (photos) task.start = {.photo = *photos, .time = o.at("window_from").get<std::int64_t>()};
  return run(n, prior, o, task, callback, observer);
}

// The lock is given up after the Python objects are in C++'s hands and taken again before the result is Python's.
template <class Work>
auto watched(py::object callback, py::object progress, py::object message, const Work& work) {
  const Held shown(std::move(callback));
  PythonObserver observer(Held(std::move(progress)), Held(std::move(message)));
  const py::gil_scoped_release unlocked;
  return work(shown, observer);
}

}  // namespace

void bind_restoration(py::module_& m) {
  m.def("sample", [](const DenoiserPtr& prior, const std::string& options, const std::vector<std::uint64_t>& seeds, py::object callback,
                     py::object progress, py::object message) {
    return watched(callback, progress, message, [&](const Held& shown, PythonObserver& observer) {
      return sample_images(*prior, options, seeds, shown, observer);
    });
  });
  m.def("restore", [](const Tensor& y, const std::shared_ptr<BoundOperator>& op, const DenoiserPtr& prior, const std::string& method,
                      const std::vector<double>& sigmas, const std::string& options, const std::vector<std::uint64_t>& seeds,
                      py::object callback, py::object progress, py::object message) {
    return watched(callback, progress, message, [&](const Held& shown, PythonObserver& observer) {
      return restore_images(y, *op, *prior, method, sigmas, options, seeds, shown, observer);
    });
  });
  m.def("reconstruct", [](const NetworkPtr& net, const DenoiserPtr& prior, const Tensor& y, const std::string& options,
                          const std::vector<std::uint64_t>& seeds, py::object callback, py::object progress, py::object message) {
    return watched(callback, progress, message, [&](const Held& shown, PythonObserver& observer) {
      return reconstruct_images(*net, *prior, y, options, seeds, shown, observer);
    });
  });
  m.def("edit", [](const NetworkPtr& net, const DenoiserPtr& prior, const std::vector<Change>& changes, const std::optional<Tensor>& photos,
                   const std::string& options, const std::vector<std::uint64_t>& seeds, py::object callback, py::object progress,
                   py::object message) {
    return watched(callback, progress, message, [&](const Held& shown, PythonObserver& observer) {
      return edit_images(*net, *prior, changes, photos, options, seeds, shown, observer);
    });
  });
  m.def("expected_outputs", [](const Network& n, const std::vector<Change>& changes, double aim, double margin) {
    return expected_outputs(statistics_of(n), target_config(changes, aim, margin)).reshape({1, -1}).to(n.weight.options().requires_grad(false));
  }, Unlocked());
  m.def("method_settings", [] {
    std::map<std::string, double> defaults;
    for (const auto& s : method_settings()) defaults[s.name] = s.otherwise;
    return defaults;
  });
  m.def("method_catalogue", [] {
    std::vector<std::tuple<std::string, std::string, bool, bool>> rows;
    for (const auto& i : method_catalogue()) rows.emplace_back(i.name, i.what, i.linear_only, i.knows_noise);
    return rows;
  });
  m.def("nearest_names", [](const std::string& wanted, const std::vector<std::string>& names) { return nearest_names(wanted, names, 3); });
}

}  // namespace spnn::python
