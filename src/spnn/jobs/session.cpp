#include <spnn/jobs/loaded_models.h>
#include <spnn/jobs/network_input.h>
#include <spnn/jobs/requests.h>
#include <spnn/jobs/session.h>

namespace spnn::engine {
namespace {

class TorchSession final : public Session {
 public:
  explicit TorchSession(const SessionConfig& config) : models_(config) {}

  SessionInfo info() const override {
    const auto& g = models_.classifier();
    const auto shape = g.net->in_shape();
    return {.family = models_.config().models.family, .device = models_.device().str(), .task = g.outputs.task, .names = output_names(g),
            .width = shape.width, .height = shape.height, .channels = shape.channels, .network = describe_network(*g.net)};
  }
  std::int64_t loaded() const override { return models_.loaded(); }

  EditResult edit(const EditRequest& wish, Observer& watch) const override { return engine::edit(models_, wish, watch); }
  ReconstructResult reconstruct(const ReconstructRequest& wish, Observer& watch) const override {
    return engine::reconstruct(models_, wish, watch);
  }
  RestoreResult restore(const RestoreRequest& wish, Observer& watch) const override { return engine::restore_images(models_, wish, watch); }
  SampleResult sample(const SampleRequest& wish, Observer& watch) const override { return engine::sample(models_, wish, watch); }
  ProjectResult project(const ProjectRequest& wish) const override { return engine::project(models_, wish); }
  ProjectResult pinv(const PinvRequest& wish) const override { return engine::pinv(models_, wish); }
  PartsResult parts(const PartsRequest& wish) const override { return engine::parts(models_, wish); }
  ValuesResult values(const ValuesRequest& wish) const override { return engine::values(models_, wish); }
  Image measure(const MeasureRequest& wish) const override { return measure_photo(models_, wish); }
  std::vector<AttributeRange> attributes() const override { return attribute_ranges(models_); }
  VerifyReport verify(const VerifyRequest& wish, Observer& watch) const override { return engine::verify(models_, wish, watch); }

 private:
  LoadedModels models_;
};

}  // namespace

std::unique_ptr<Session> open_session(const SessionConfig& config) { return std::make_unique<TorchSession>(config); }

}  // namespace spnn::engine
