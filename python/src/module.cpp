#include "bindings.h"

#include <spnn/version.h>

PYBIND11_MODULE(_spnn, m) {
  using namespace spnn::python;
  m.doc() = "The C++ library behind the package spnn; use that one.";
  m.attr("version") = SPNN_VERSION;
  bind_errors(m);
  bind_network(m);
  bind_images(m);
  bind_operators(m);
  bind_prior(m);
  bind_restoration(m);
  bind_training(m);
}
