#pragma once

#include "bindings.h"

#include <spnn/restoration/degradation.h>

namespace spnn::python {

// What happened to an image, as Python holds it.
struct BoundOperator {
  Degradation g;
  std::shared_ptr<const Operator> map;   // none for a network, which has its own class
};

}  // namespace spnn::python
