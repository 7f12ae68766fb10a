#pragma once

// A network with labels, whichever it is. Internal to jobs/.

#include <spnn/core/shape.h>
#include <spnn/data/task.h>

#include <string>

namespace spnn::engine {

struct LabelledModel {
  Map map;                            // keeps the network alive
  Shape input;
  std::vector<std::string> names;     // of the outputs; empty if the file does not say
};

// An SPNN or a judge, by what its file says. It computes on the device; its outputs are on the CPU.
LabelledModel load_labelled_model(const std::string& file, torch::Device device = torch::kCPU);

}  // namespace spnn::engine
