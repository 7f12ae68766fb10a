#include "degradation.h"
#include "network.h"
#include "python_operator.h"

#include <spnn/operators/masks.h>
#include <spnn/projection/operator_projector.h>

namespace spnn::python {
namespace {

BoundOperator named_operator(const std::string& spec, const ShapeTuple& shape, const std::optional<Tensor>& masks, const std::string& metric,
                             const std::string& pseudo_inverse) {
  const auto in = shape_of(shape);
  if (network_file(spec)) {
    return {make_degradation({.spec = spec, .metric = metric_from(metric), .pseudo_inverse = pseudo_inverse_from(pseudo_inverse)}, in), {}};
  }
  const auto made = make_operator(spec, in, tensor_of(masks));
  return {degradation_of(made, metric_from(metric)), made.g};
}

BoundOperator of_network(const NetworkPtr& n, const std::string& metric, const std::string& pseudo_inverse) {
  Degradation g{.name = "network", .g = std::make_shared<SpnnProjector>(
                                       n->model.net, SpnnProjectorConfig{.pseudo_inverse = pseudo_inverse_from(pseudo_inverse),
                                                                         .metric = metric_from(metric)})};
  g.intensities = false;
  return {std::move(g), {}};
}

BoundOperator of_python(const std::string& name, const ShapeTuple& in, const ShapeTuple& out, py::object forward, py::object pinv,
                        py::object complete, py::object invert, const std::string& metric) {
  auto map = std::make_shared<PythonOperator>(PythonMap{Held(std::move(forward)), Held(std::move(pinv)), Held(std::move(complete)),
                                                        Held(std::move(invert)), name, shape_of(in), shape_of(out)});
  Degradation g{.name = name, .g = std::make_shared<OperatorProjector>(map, metric_from(metric))};
  g.intensities = false;
  return {std::move(g), map};
}

BoundOperator of_python_svd(const std::string& name, const ShapeTuple& in, const ShapeTuple& out, py::object forward, py::object pinv,
                            py::object Vt, py::object V, py::object Ut, py::object U, const Tensor& S) {
  auto map = std::make_shared<PythonLinear>(
      PythonSvd{Held(std::move(forward)), Held(std::move(pinv)), Held(std::move(Vt)), Held(std::move(V)), Held(std::move(Ut)), Held(std::move(U)), S, name, shape_of(in), shape_of(out)});
  Degradation g{.name = name, .g = std::make_shared<OperatorProjector>(map), .linear = map, .A = map};
  return {std::move(g), map};
}

const LinearOperator& linear_of(const BoundOperator& o, const char* what) {
  require(o.g.linear != nullptr, o.g.name, fmt::format("a linear operator for {}", what), "one that is not");
  return *o.g.linear;
}

const Operator& map_of(const BoundOperator& o) {
  require(o.map != nullptr, o.g.name, "an operator", "a network: its own complete and invert serve");
  return *o.map;
}

Tensor nlbp_of(const BoundOperator& o, const Tensor& x, const Tensor& y, const Strength& strength) {
  require_shape(x, o.g.g->in_shape(), o.g.name);
  require_shape(y, o.g.g->out_shape(), fmt::format("target of {}", o.g.name));
  return o.g.g->nlbp(x, y, lambda_of(strength, x));
}

Tensor forward_of(const BoundOperator& o, const Tensor& x) {
  require_shape(x, o.g.g->in_shape(), o.g.name);
  return o.g.g->forward(x);
}

Tensor pinv_of(const BoundOperator& o, const Tensor& y) {
  require_shape(y, o.g.g->out_shape(), fmt::format("measurement of {}", o.g.name));
  return o.g.g->pinv(y);
}

void bind_catalogues(py::module_& m) {
  m.def("operator_catalogue", [] {
    std::vector<std::tuple<std::string, std::string, std::string, std::string>> rows;
    for (const auto& o : operator_catalogue()) rows.emplace_back(o.name, o.parameters, o.what, o.pseudo_inverse);
    return rows;
  });
  m.def("freeform_mask", &freeform_mask, py::arg("height"), py::arg("width"), py::arg("hole"), py::arg("seed"));
  m.def("sigmas_of", [](const std::string& noise, const Tensor& y) { return sigmas_of(noise_from(noise), y).levels(); });
}

}  // namespace

void bind_operators(py::module_& m) {
  py::class_<BoundOperator, std::shared_ptr<BoundOperator>>(m, "BoundOperator")
      .def_static("named", &named_operator)
      .def_static("of_network", &of_network)
      .def_static("of_python", &of_python)
      .def_static("of_python_svd", &of_python_svd)
      .def_property_readonly("name", [](const BoundOperator& o) { return o.g.name; })
      .def_property_readonly("linear", [](const BoundOperator& o) { return o.g.linear != nullptr; })
      .def_property_readonly("in_shape", [](const BoundOperator& o) { return tuple_of(o.g.g->in_shape()); })
      .def_property_readonly("out_shape", [](const BoundOperator& o) { return tuple_of(o.g.g->out_shape()); })
      .def_property_readonly("singular_values", [](const BoundOperator& o) { return linear_of(o, "singular values").S(); })
      .def("forward", &forward_of, Unlocked())
      .def("pinv", &pinv_of, Unlocked())
      .def("adjoint", [](const BoundOperator& o, const Tensor& y) { return linear_of(o, "an adjoint").adjoint(y); }, Unlocked())
      .def("complete", [](const BoundOperator& o, const Tensor& x) { return pair_of(map_of(o).complete(x)); }, Unlocked())
      .def("invert", [](const BoundOperator& o, const Tensor& y, std::vector<Tensor> z) { return map_of(o).invert({y, std::move(z)}); }, Unlocked())
      .def("nlbp", &nlbp_of, Unlocked())
      .def("in_range", [](const BoundOperator& o, const Tensor& y) { return o.g.in_range(y); }, Unlocked())
      .def("measure",
           [](const BoundOperator& o, const Tensor& x, const std::string& noise, const std::vector<std::uint64_t>& seeds) {
             return o.g.measure(x, noise_from(noise), seeds);
           }, Unlocked())
      .def("picture", [](const BoundOperator& o, const Tensor& y) { return o.g.picture(y); }, Unlocked());
  bind_catalogues(m);
}

}  // namespace spnn::python
