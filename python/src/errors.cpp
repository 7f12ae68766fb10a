#include "bindings.h"

#include <cmath>

namespace spnn::python {
namespace {

// spnn.Error is a RuntimeError, spnn.UsageError besides that a ValueError.
PyObject *g_error = nullptr, *g_usage = nullptr, *g_interrupted = nullptr;

PyObject* new_exception(py::module_& m, const char* name, const char* doc, const py::object& bases) {
  PyObject* type = PyErr_NewExceptionWithDoc((std::string("spnn.") + name).c_str(), doc, bases.ptr(), nullptr);
  m.add_object(name, py::reinterpret_borrow<py::object>(type));
  return type;
}

bool finite(const Tensor& x) {
  const torch::NoGradGuard no_grad;
  // A sum is one cheap pass; where it overflows the entries themselves decide.
  if (std::isfinite(x.detach().sum().item<double>())) return true;
  return x.detach().isfinite().all().item<bool>();
}

std::string described(const torch::TensorOptions& o) {
  return fmt::format("{} on {}", c10::toString(c10::typeMetaToScalarType(o.dtype())), o.device().str());
}

}  // namespace

void require_input(const Tensor& x, const Tensor& like, std::string_view where) {
  require(x.scalar_type() == like.scalar_type() && x.device() == like.device(), where,
          fmt::format("{}, as the weights are", described(like.options())), described(x.options()),
          "x.to(net.dtype) or net.to(x.dtype) makes them alike");
  require(finite(x), where, "finite numbers", "NaN or infinity among them");
}

Tensor lambda_of(const Strength& strength, const Tensor& x) {
  if (const auto* number = std::get_if<double>(&strength)) return torch::scalar_tensor(*number, x.options().requires_grad(false));
  return std::get<Tensor>(strength);
}

void bind_errors(py::module_& m) {
  const py::object runtime = py::reinterpret_borrow<py::object>(PyExc_RuntimeError);
  g_error = new_exception(m, "Error", "Whatever the library reports: 'where: expected …, got …'.", runtime);
  const auto error = py::reinterpret_borrow<py::object>(g_error);
  const auto value = py::reinterpret_borrow<py::object>(PyExc_ValueError);
  g_usage = new_exception(m, "UsageError", "Something was asked for that cannot be.", py::make_tuple(error, value));
  g_interrupted = new_exception(m, "Interrupted", "The work was stopped before its end.", error);

  py::register_local_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Interrupted& e) {
      PyErr_SetString(g_interrupted, e.what());
    } catch (const UsageError& e) {
      PyErr_SetString(g_usage, e.what());
    } catch (const Error& e) {
      PyErr_SetString(g_error, e.what());
    } catch (const c10::Error& e) {
      PyErr_SetString(g_error, what_without_backtrace(e).c_str());
    } catch (const Json::exception& e) {
      PyErr_SetString(g_error, e.what());
    }
  });
}

}  // namespace spnn::python
