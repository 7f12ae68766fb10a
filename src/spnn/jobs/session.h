#pragma once

// The session of this library: every request is defined in the file of its topic. Internal to jobs/.

#include <spnn/engine/session.h>
#include <spnn/jobs/loaded_models.h>

#include <memory>

namespace spnn::engine {

class TorchSession final : public Session {
 public:
  explicit TorchSession(const SessionConfig& config) : loaded_(config) {}

  SessionInfo info() const override;
  std::int64_t loaded() const override { return loaded_.loaded(); }
  EditResult edit(const EditRequest& wish, Observer& observer) const override;
  ReconstructResult reconstruct(const ReconstructRequest& wish, Observer& observer) const override;
  RestoreResult restore(const RestoreRequest& wish, Observer& observer) const override;
  SampleResult sample(const SampleRequest& wish, Observer& observer) const override;
  ProjectResult project(const ProjectRequest& wish) const override;
  ProjectResult pinv(const PinvRequest& wish) const override;
  PartsResult parts(const PartsRequest& wish) const override;
  ValuesResult values(const ValuesRequest& wish) const override;
  Image measure(const MeasureRequest& wish) const override;
  std::vector<AttributeRange> attributes() const override;
  VerifyReport verify(const VerifyRequest& wish, Observer& observer) const override;

 private:
  LoadedModels loaded_;
};

std::unique_ptr<Session> open_session(const SessionConfig& config);

}  // namespace spnn::engine
