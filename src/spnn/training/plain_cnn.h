#pragma once

#include <spnn/training/degradation.h>

namespace spnn {

// The same task for a network that is free of any inverse: y = T x + a residual CNN over the same cells, with s and t's kind of layers, three
// times as deep as one of them, and as wide as makes it have `parameters` weights, as nearly as a multiple of four channels can.
class PlainCnnObjective final : public Objective {
 public:
  PlainCnnObjective(DegradationRecipe recipe, const Reduction& T, DegradedImages train, DegradedImages val, std::int64_t parameters);

  torch::nn::Module& module() override { return *net_; }
  Losses losses(std::int64_t step, Share share) override;
  Validation validate() override;
  std::map<std::string, std::string> metadata() const override;

  Tensor forward(const Tensor& x) const;
  std::int64_t parameter_count() const;

 private:
  DegradationRecipe recipe_;
  const Reduction& T_;
  DegradedImages train_, val_;
  LabelledBatches batches_;
  std::int64_t hidden_ = 0;
  std::shared_ptr<Subnet> net_;
};

std::int64_t parameter_count(const std::vector<Tensor>& parameters);

}  // namespace spnn
