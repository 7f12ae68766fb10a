#include <spnn/jobs/network_input.h>
#include <spnn/jobs/session.h>

namespace spnn::engine {

SessionInfo TorchSession::info() const {
  const auto& g = loaded_.classifier();
  const auto shape = g.net->in_shape();
  return {.family = loaded_.config().models.family, .device = loaded_.device().str(), .task = g.outputs.task, .names = output_names(g),
          .width = shape.width, .height = shape.height, .channels = shape.channels, .network = describe_network(*g.net)};
}

std::unique_ptr<Session> open_session(const SessionConfig& config) { return std::make_unique<TorchSession>(config); }

}  // namespace spnn::engine
