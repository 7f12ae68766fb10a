#include <spnn/jobs/labelled_model.h>
#include <spnn/checkpoint/models.h>
#include <spnn/checkpoint/safetensors.h>

namespace spnn::engine {

LabelledModel load_labelled_model(const std::string& file, torch::Device device) {
  const auto metadata = read_safetensors(file).metadata;
  if (metadata.contains("kind") && metadata.at("kind") == "judge") {
    const auto judge = load_judge(file);
    judge.net->to(device);
    return {[net = judge.net, device](const Tensor& x) { return net->forward(x.to(device)).to(torch::kCPU); }, judge.net->in_shape(), judge.outputs.names};
  }
  const auto spnn = load_spnn(file);
  spnn.net->to(device);
  return {[net = spnn.net, device](const Tensor& x) { return net->forward(x.to(device)).to(torch::kCPU); }, spnn.net->in_shape(), spnn.outputs.names};
}

}  // namespace spnn::engine
