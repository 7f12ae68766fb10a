#pragma once

#include <spnn/core/observer.h>
#include <spnn/engine/requests.h>

#include <string>
#include <vector>

namespace spnn::engine {

// Which models, where. A model is loaded by the first request that needs it, once, and stays.
struct SessionConfig {
  ModelChoice models = {};            // the classifier may be "preset:NAME", random weights to try things
  std::string device = "cpu";         // cuda, cuda:1, …: as libtorch offers
  bool in_double = false;             // the classifier in double precision: verify, pinv, project, parts
  bool load_now = false;              // classifier and prior at once, so that the first request is as fast as the others
};

struct SessionInfo {
  std::string family, device;
  std::string task;                   // attributes, classes or black_box
  std::vector<std::string> names;     // of g's outputs
  std::int64_t width = 0, height = 0, channels = 0;
  std::string network;                // for a person: name, shapes, parameters
};

// Loaded models on a device that answer any number of requests. Every method may be called from several threads at once,
// and gives the same bits as alone. Errors are exceptions with a sentence; a cancelled request throws Interrupted.
class Session {
 public:
  virtual ~Session() = default;

  virtual SessionInfo info() const = 0;
  virtual std::int64_t loaded() const = 0;   // model files read so far

  virtual EditResult edit(const EditRequest& wish, Observer& watch) const = 0;
  virtual ReconstructResult reconstruct(const ReconstructRequest& wish, Observer& watch) const = 0;
  virtual RestoreResult restore(const RestoreRequest& wish, Observer& watch) const = 0;
  virtual SampleResult sample(const SampleRequest& wish, Observer& watch) const = 0;

  // One pass or two: milliseconds.
  virtual ProjectResult project(const ProjectRequest& wish) const = 0;
  virtual ProjectResult pinv(const PinvRequest& wish) const = 0;
  virtual PartsResult parts(const PartsRequest& wish) const = 0;
  virtual ValuesResult values(const ValuesRequest& wish) const = 0;
  virtual Image measure(const MeasureRequest& wish) const = 0;

  virtual std::vector<AttributeRange> attributes() const = 0;
  virtual VerifyReport verify(const VerifyRequest& wish, Observer& watch) const = 0;
};

}  // namespace spnn::engine
