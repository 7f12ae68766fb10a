#pragma once

#include <spnn/blocks/affine_surjection.h>
#include <spnn/core/pseudo_invertible.h>
#include <spnn/core/rng.h>
#include <spnn/networks/spnn_config.h>

#include <functional>
#include <map>

namespace spnn {

// The stack of blocks 1…L with g(x) = y_L, G(x) = [y_L | z_1 … z_L].
// A *level* is a block that discards something; levels count from 0 in the order of the forward pass, and
// Completion::z has one entry per level. Shapes with one pixel are vectors: [B, d] at the interface, images [B, d, h, w].
// Parameters are named as in public checkpoints: pinn.blocks.{b}.{mix,s,t,r}…; a further set of r nets
// called "min_norm" is pinn.blocks.{b}.r_min_norm….
class Spnn : public torch::nn::Module {
 public:
  explicit Spnn(const SpnnConfig& config);   // shapes are checked here; all weights are zero
  // Blocks that no configuration knows: your own. Such a network has no further sets of r nets and cannot be saved as a model.
  explicit Spnn(const std::vector<std::shared_ptr<Block>>& blocks);
  Spnn(const Spnn&) = delete;
  Spnn& operator=(const Spnn&) = delete;

  Tensor forward(const Tensor& x) const;              // g
  Completion complete(const Tensor& x) const;         // G
  Tensor invert(const Completion& yz) const;          // G⁻¹
  Tensor pinv(const Tensor& y) const;                 // g† with the learned r

  // Each level's output y_l and discarded z_l, from one forward pass: y of the last one is not g(x) if bijections
  // follow. What phase II regresses on, Σ‖z_l − r_l(y_l)‖², without a pass through the inverse.
  struct Level {
    Tensor y, z;
  };
  struct Trace {
    Tensor y;                     // g(x)
    std::vector<Level> levels;
  };
  Trace trace(const Tensor& x) const;
  std::vector<Level> levels(const Tensor& x) const { return trace(x).levels; }

  // An inverse pass in which `z` picks the discarded part level by level, last first, seeing y_l. Every
  // pseudo-inverse and both completions are choices of it.
  using PickZ = std::function<Tensor(std::size_t level, const Tensor& y_l)>;
  Tensor descend(const Tensor& y, const PickZ& z) const;
  // Only what `z` picks: the first level, the dearest one, need not be inverted for it.
  std::vector<Tensor> picks(const Tensor& y, const PickZ& z) const;

  std::size_t level_count() const { return levels_.size(); }
  const Surjection& level(std::size_t l) const { return *levels_.at(l); }
  Tensor r(std::size_t level, const Tensor& y_l) const { return levels_.at(level)->r(y_l); }

  // Sets of r nets, one net per level. "r" is the learned one; others are made by the config's r_sets or add_r_set.
  using RSet = std::vector<std::shared_ptr<Subnet>>;
  const RSet& r_set(const std::string& name = "r") const;
  bool has_r_set(const std::string& name) const { return r_sets_.contains(name); }
  const RSet& add_r_set(const std::string& name, const Rng& rng);   // a registered set, initialised from the seed
  RSet make_r_set(const Rng& rng) const;                            // a free one, of this network's type and device

  std::vector<Tensor> r_parameters(const std::string& set = "r") const;   // what phase II trains
  std::vector<Tensor> g_parameters() const;                               // U, s and t: what it freezes

  const SpnnConfig& config() const { return config_; }
  const std::vector<std::shared_ptr<Block>>& blocks() const { return blocks_; }
  const Shape& in_shape() const { return blocks_.front()->in_shape(); }
  const Shape& out_shape() const { return blocks_.back()->out_shape(); }
  torch::TensorOptions options() const;               // type and device of the weights

 private:
  Tensor entering(const Tensor& x) const;             // checked, [B, C, H, W]
  Tensor leaving_input(const Tensor& x) const;        // [B, C] for vectors
  RSet build_r_set() const;
  void add_block(std::shared_ptr<Block> block);       // after the others

  SpnnConfig config_;
  std::vector<std::shared_ptr<Block>> blocks_;
  std::shared_ptr<torch::nn::Module> named_blocks_;   // pinn.blocks
  std::vector<std::shared_ptr<Surjection>> levels_;
  std::vector<std::size_t> level_block_;              // block number of each level
  std::map<std::string, RSet> r_sets_;
};

static_assert(PseudoInvertible<Spnn>);

// The start of training: He's uniform weights from the seed, the last layer of every subnet and B at zero, so that
// U = I, s = t = r = 0. Householder vectors are drawn at random.
void initialise_spnn(Spnn& net, const Rng& rng);

// Random values everywhere, zeros nowhere: a generic point for tests of laws, where the start of training is trivial.
void randomise_spnn(Spnn& net, const Rng& rng);

}  // namespace spnn
