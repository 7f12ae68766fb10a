#include "python_prior.h"

#include <spnn/checkpoint/load_prior.h>
#include <spnn/diffusion/schedule.h>

namespace spnn::python {
namespace {

Schedule linear_schedule(const std::tuple<double, double, std::int64_t>& betas) {
  return Schedule::linear(std::get<0>(betas), std::get<1>(betas), std::get<2>(betas));
}

void require_time(const Denoiser& prior, std::int64_t t) {
  require(t >= 0 && t < prior.schedule().steps(), "prior", fmt::format("a time in 0 … {}", prior.schedule().steps() - 1), std::to_string(t));
}

}  // namespace

void bind_prior(py::module_& m) {
  py::class_<Denoiser, DenoiserPtr>(m, "Denoiser")
      .def("eps", [](const Denoiser& d, const Tensor& x_t, std::int64_t t) {
        require_time(d, t);
        return d.eps(x_t, t);
      }, Unlocked())
      .def("x0", [](const Denoiser& d, const Tensor& x_t, std::int64_t t) {
        require_time(d, t);
        return predict_x0(d, x_t, t);
      }, Unlocked())
      .def("unled", [](const DenoiserPtr& d) -> DenoiserPtr { return std::const_pointer_cast<Denoiser>(unled(d)); })
      .def_property_readonly("shape", [](const Denoiser& d) { return tuple_of(d.shape()); })
      .def_property_readonly("steps", [](const Denoiser& d) { return d.schedule().steps(); })
      .def("alpha_bar", [](const Denoiser& d, std::int64_t t) {
        if (t >= 0) require_time(d, t);
        return d.schedule().alpha_bar(t);
      });
  m.def("load_prior", [](const std::string& file) -> DenoiserPtr { return load_led_prior(file); }, Unlocked());
  m.def("python_prior", [](py::object eps, const ShapeTuple& shape, const std::tuple<double, double, std::int64_t>& betas) -> DenoiserPtr {
    return std::make_shared<PythonDenoiser>(Held(std::move(eps)), shape_of(shape), linear_schedule(betas));
  });
}

}  // namespace spnn::python
