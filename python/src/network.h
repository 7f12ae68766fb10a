#pragma once

#include "bindings.h"

#include <spnn/projection/spnn_projector.h>

namespace spnn::python {

// A network as Python holds it: with what its file says of its outputs.
struct Network {
  explicit Network(SpnnModel loaded);

  SpnnModel model;
  Tensor weight;   // the first one: type and device without a walk over the tree

  const Spnn& net() const { return *model.net; }
};

using NetworkPtr = std::shared_ptr<Network>;

}  // namespace spnn::python
