#include <spnn/jobs/labelled_model.h>
#include <spnn/checkpoint/models.h>
#include <spnn/checkpoint/safetensors.h>

namespace spnn::engine {

LabelledModel load_labelled_model(const std::string& file) {
  const auto metadata = read_safetensors(file).metadata;
  if (metadata.contains("kind") && metadata.at("kind") == "judge") {
    const auto judge = load_judge(file);
    return {[net = judge.net](const Tensor& x) { return net->forward(x); }, judge.net->in_shape(), judge.outputs.names};
  }
  const auto spnn = load_spnn(file);
  return {[net = spnn.net](const Tensor& x) { return net->forward(x); }, spnn.net->in_shape(), spnn.outputs.names};
}

}  // namespace spnn::engine
