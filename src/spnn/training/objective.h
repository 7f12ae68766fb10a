#pragma once

#include <spnn/core/shape.h>
#include <torch/nn/module.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace spnn {

// The weighted parts of a loss by name; training minimises their sum.
using Losses = std::vector<std::pair<std::string, Tensor>>;

struct Validation {
  double score = 0;   // lower is better; decides which weights are kept as the best
  std::vector<std::pair<std::string, double>> figures;
};

// Which part of the global batch this process computes: images rank·B/size … (rank+1)·B/size.
struct Share {
  std::int64_t rank = 0;
  std::int64_t size = 1;
};

class Communicator;

// What a trainer minimises. All randomness is a function of the step, so nothing but weights has to be restored.
class Objective {
 public:
  virtual ~Objective() = default;
  virtual torch::nn::Module& module() = 0;                     // what is stored
  virtual std::vector<Tensor> parameters() { return module().parameters(); }   // what is trained
  virtual Losses losses(std::int64_t step, Share share) = 0;   // the mean over this share of the batch
  virtual void after_step(std::int64_t /*step*/, Communicator&) {}   // what must stay equal in all processes is averaged here
  virtual Validation validate() = 0;
  virtual void milestone(std::int64_t /*step*/) {}             // after a validation, with the averaged weights in place
  virtual std::map<std::string, std::string> metadata() const = 0;   // kind and architecture of the model file
  virtual std::map<std::string, Tensor> companions() const { return {}; }   // stored with the model beside its weights
  virtual std::map<std::string, Tensor> state() const { return {}; }  // what an exact resume needs beyond weights
  virtual void restore(const std::map<std::string, Tensor>&) {}
};

}  // namespace spnn
