#include <spnn/checkpoint/layout.h>
#include <spnn/checkpoint/load_flow.h>
#include <spnn/checkpoint/module_state.h>
#include <spnn/checkpoint/tensor_checks.h>

namespace spnn {

std::shared_ptr<Flow> load_flow(const std::filesystem::path& file) {
  const auto content = read_model(file, "density");
  std::shared_ptr<Flow> flow;
  {
    const TensorBudget budget(content.tensors, file.string());
    flow = std::make_shared<Flow>(content.layout.architecture.get<FlowConfig>());
  }
  load_into(*flow, content.tensors, file.string());
  for (auto& parameter : flow->parameters()) parameter.requires_grad_(false);
  return flow;
}

}  // namespace spnn
