#include "degradation.h"
#include "network.h"
#include "python_prior.h"
#include "requests.h"

#include <spnn/diffusion/autoguidance.h>
#include <spnn/jobs/field_session.h>
#include <spnn/jobs/guided_work.h>

namespace spnn::python {
namespace {

using Seeds = std::vector<std::uint64_t>;
using GuidedResult = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor>;   // bytes, y, target, before, after

// x̂0 as the prior has it, shown to Python at every evaluation; steps count from 0 in every batch.
class Shown {
 public:
  Shown(const Held& callback, const Denoiser& prior) : prior_(prior, callback.none() ? WatchedDenoiser::Show() : show(callback)) {}
  const Denoiser& prior() const { return prior_; }
  void next_batch() { step_ = 0; }

 private:
  WatchedDenoiser::Show show(const Held& callback) {
    return [this, callback](const Tensor& x0, std::int64_t, std::int64_t) { callback.tell(step_++, x0); };
  }

  std::int64_t step_ = 0;
  WatchedDenoiser prior_;
};

Tensor sample_images(const Denoiser& prior, const std::string& options, const Seeds& seeds, const Held& callback, PythonObserver& observer) {
  const torch::NoGradGuard no_grad;
  return sample(Shown(callback, prior).prior(), engine::sampler_config(sampling_options(options)), ImageSeeds(seeds), observer);
}

Tensor restore_images(const Tensor& y, const BoundOperator& op, const Denoiser& prior, const std::string& method, const std::vector<double>& sigmas,
                      const std::string& options, const Seeds& seeds, const Held& callback, PythonObserver& observer) {
  const torch::NoGradGuard no_grad;
  require(y.isfinite().all().item<bool>(), "restore", "a measurement of finite numbers", "NaN or infinity among them");
  const auto said = restore_options(options);
  const Shown shown(callback, prior);
  return restore_by(method, {.prior = shown.prior(), .g = op.g, .y = y, .sigma_y = NoiseLevels(sigmas), .seeds = ImageSeeds(seeds)},
                    engine::method_config(said.method, said.sampling), observer);
}

GuidedResult run(engine::GuidedWork work, const Denoiser& prior, const Held& callback, PythonObserver& observer) {
  Shown shown(callback, prior);
  work.task.on_batch = [&](std::int64_t, const Finalized&) { shown.next_batch(); };
  auto all = restore(shown.prior(), *work.g, work.config, work.task, observer);
  return {all.bytes, all.y, all.target, all.before, all.after};
}

GuidedResult reconstruct_images(const Network& n, const Denoiser& prior, const std::optional<Tensor>& y, const std::string& options,
                                const Held& callback, PythonObserver& observer) {
  const torch::NoGradGuard no_grad;
  const auto wish = reconstruct_request(options);
  if (y.has_value() != wish.attributes.empty()) throw UsageError("reconstruct: expected outputs y or attributes, got " + std::string(y ? "both" : "neither"));
  const auto wanted = y ? *y : outputs_with(n.model, wish).to(n.weight.options().requires_grad(false));
  require_input(wanted, n.weight, "reconstruct");
  require_shape(wanted, n.net().out_shape(), "reconstruct");
  return run(reconstruction_of(n.model, wanted.repeat_interleave(wish.samples, 0), wish, observer), prior, callback, observer);
}

GuidedResult edit_images(const Network& n, const Denoiser& prior, const std::optional<Tensor>& photos, const std::string& options,
                         const Held& callback, PythonObserver& observer) {
  const torch::NoGradGuard no_grad;
  const auto wish = edit_request(options);
  if (wish.attributes.empty()) throw UsageError("edit: expected one attribute or more (set, unset), got none");
  if (!photos) return run(edit_from_noise(n.model, wish, observer), prior, callback, observer);
  require_input(*photos, n.weight, "edit");
  require_shape(*photos, n.net().in_shape(), "edit");
  return run(edit_of_photos(n.model, photos->repeat_interleave(wish.samples, 0), wish, observer), prior, callback, observer);
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
  m.def("sample", [](const DenoiserPtr& prior, const std::string& options, const Seeds& seeds, py::object callback, py::object progress,
                     py::object message) {
    return watched(callback, progress, message, [&](const Held& shown, PythonObserver& observer) {
      return sample_images(*prior, options, seeds, shown, observer);
    });
  });
  m.def("restore", [](const Tensor& y, const std::shared_ptr<BoundOperator>& op, const DenoiserPtr& prior, const std::string& method,
                      const std::vector<double>& sigmas, const std::string& options, const Seeds& seeds, py::object callback,
                      py::object progress, py::object message) {
    return watched(callback, progress, message, [&](const Held& shown, PythonObserver& observer) {
      return restore_images(y, *op, *unled(prior), method, sigmas, options, seeds, shown, observer);
    });
  });
  m.def("reconstruct", [](const NetworkPtr& net, const DenoiserPtr& prior, const std::optional<Tensor>& y, const std::string& options,
                          py::object callback, py::object progress, py::object message) {
    return watched(callback, progress, message, [&](const Held& shown, PythonObserver& observer) {
      return reconstruct_images(*net, *unled(prior), y, options, shown, observer);
    });
  });
  m.def("edit", [](const NetworkPtr& net, const DenoiserPtr& prior, const std::optional<Tensor>& photos, const std::string& options,
                   py::object callback, py::object progress, py::object message) {
    return watched(callback, progress, message, [&](const Held& shown, PythonObserver& observer) {
      return edit_images(*net, *unled(prior), photos, options, shown, observer);
    });
  });
  m.def("defaults", &defaults);
  m.def("paper_options", &paper_options);
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
}

}  // namespace spnn::python
