#pragma once

// The models of a session: each read from its file by the first request that needs it, once. Internal to jobs/.

#include <spnn/checkpoint/load_prior.h>
#include <spnn/checkpoint/models.h>
#include <spnn/diffusion/cascade_denoiser.h>
#include <spnn/engine/session.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace spnn::engine {

// A network with its prior, fitting together.
struct RestorationModels {
  SpnnModel classifier;
  std::shared_ptr<const Denoiser> prior;

  Shape shape() const { return classifier.net->in_shape(); }
  const std::vector<std::string>& names() const { return classifier.outputs.names; }
  torch::Device device() const { return classifier.net->options().device(); }
};

class LoadedModels {
 public:
  explicit LoadedModels(const SessionConfig& config);

  const SpnnModel& classifier() const;                        // or the preset with random weights
  std::shared_ptr<const Denoiser> prior() const;              // for making images: led away from the weak one in its file
  std::shared_ptr<const Upscaler> upscaler() const;           // none where the images are to be of the prior's own size
  std::shared_ptr<const Denoiser> large_prior() const;        // of the size asked for and unled, for restoring: the prior, or both stages as one
  const JudgeModel& judge() const;                            // of the classifier's attributes and size
  RestorationModels restoration() const;                      // both, and they fit
  SpnnModel operator_network(const std::string& file) const;  // kept as well

  const SessionConfig& config() const { return config_; }
  torch::Device device() const { return device_; }
  std::int64_t loaded() const;

 private:
  SpnnModel load_network(const std::string& file) const;

  SessionConfig config_;
  torch::Device device_;
  mutable std::recursive_mutex mutex_;
  mutable std::optional<SpnnModel> classifier_;
  mutable std::shared_ptr<const Denoiser> prior_;
  mutable std::shared_ptr<const Upscaler> upscaler_;
  mutable std::optional<JudgeModel> judge_;
  mutable std::map<std::string, SpnnModel> operators_;
  mutable std::int64_t loaded_ = 0;
};

// The prior of a choice, led as it asks.
std::shared_ptr<const Denoiser> open_prior(const ModelChoice& models, torch::Device device);

torch::Device device_from(const std::string& text);   // an unknown one is a UsageError

}  // namespace spnn::engine
