#pragma once

#include <spnn/flows/augment.h>
#include <spnn/flows/flow_config.h>
#include <spnn/flows/flow_layer.h>

#include <memory>
#include <vector>

namespace spnn {

// A density over images in [−½, ½): layers one after the other, and a standard normal for what is left at the end.
//   log p(x) is exact, or with `augment` a bound, from one draw of the noise.
class Flow final : public torch::nn::Module {
 public:
  explicit Flow(const FlowConfig& config);   // the identity couplings of zero weights; initialise_flow starts a training
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;

  // [y | z] with all parts standard normal (half-normal for a max-pooling) where the model is right, and log p(x).
  Observed observe(const Tensor& x, const Tensor& noise = {}) const;
  Tensor log_p(const Tensor& x, const Tensor& noise = {}) const { return observe(x, noise).log_p; }
  Tensor invert(const Completion& yz) const;

  Completion draw(const FlowLayer::Draw& draw) const;   // the latent parts of new images
  Tensor sample(const FlowLayer::Draw& draw) const { return invert(this->draw(draw)); }

  // Data-dependent initial values, layer after layer.
  void start_from_data(const Tensor& x, const Tensor& noise = {});

  // The noise that log_p needs for `count` images; undefined for a flow that needs none.
  Tensor noise(std::int64_t count, const Rng& rng) const;

  const FlowConfig& config() const { return config_; }
  const std::vector<std::shared_ptr<FlowLayer>>& layers() const { return layers_; }
  Shape out_shape() const { return layers_.back()->out_shape(); }

 private:
  template <class Layer>
  void add(std::shared_ptr<Layer> layer);
  void add_scale(std::size_t scale);
  void add_step(std::int64_t hidden, bool moves_first);
  void add_coupling(std::int64_t hidden, bool moves_first);
  void add_passage(std::int64_t hidden);   // to the next scale
  Shape shape() const;                     // of what the next layer meets
  torch::TensorOptions options() const;

  FlowConfig config_;
  std::shared_ptr<Augmentation> augmentation_;
  std::shared_ptr<torch::nn::Module> tree_;
  std::vector<std::shared_ptr<FlowLayer>> layers_;
};

// Nets with their last layer at zero, Householder vectors at random, permutations from the seed of the architecture.
void initialise_flow(Flow& flow, const Rng& rng);

}  // namespace spnn
