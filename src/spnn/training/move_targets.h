#pragma once

#include <spnn/core/config.h>
#include <spnn/core/rng.h>
#include <spnn/data/dataset.h>
#include <spnn/training/communicator.h>

#include <array>
#include <map>
#include <string>
#include <vector>

namespace spnn {

struct MoveTargetsConfig {
  double swapped = 0.5;                  // the share of the moved images that are given all outputs of another one
  double balance = 0.5;                  // an attribute's state that a share f of the images has is left (f^−balance) as often
  std::map<std::string, double> favour;  // attributes that are drawn so many times as often as the others
  std::vector<std::vector<std::string>> exclusive;   // groups of which one is on: setting one turns off those that are
};

void to_json(Json& json, const MoveTargetsConfig& config);
void from_json(const Json& json, MoveTargetsConfig& config);

// Where to move images: rows of y' and what was set in them. The first `edited` rows have one to three attributes set to the side that they
// are not on; the others have the outputs of another image.
struct MoveTarget {
  Tensor y;                  // [B, A]
  Tensor set;                // [B, A], 1 where an attribute was set
  Tensor on;                 // [B, A], 1 where it was set to yes
  Tensor like;               // [edited] int64: a training image that has what was set; −1 where none was found
  std::int64_t edited = 0;
};

// Draws targets from what outputs really are: an attribute that is set takes a value as images that have it (or lack it) and are seen so,
// from running means and variances of both sides. Rare attributes are drawn as often as common ones.
class MoveTargets {
 public:
  MoveTargets(const MoveTargetsConfig& config, const Dataset& train);

  MoveTarget draw(const Tensor& y, const Tensor& labels, const Rng& rng, Share share = {}) const;

  void observe(const Tensor& y, const Tensor& labels);   // this process's share of the batch
  void after_step(Communicator& communicator);

  std::map<std::string, Tensor> state() const { return {{"targets.sums", sums_}}; }
  void restore(const std::map<std::string, Tensor>& state);

 private:
  struct Picked {
    std::int64_t attribute = 0;
    bool on = false;
  };
  std::vector<Picked> pick(const float* keys, const float* labels, std::int64_t count) const;
  std::int64_t alike(const std::vector<Picked>& picked, const float* draws) const;

  MoveTargetsConfig config_;
  std::int64_t attributes_;
  Tensor weights_;                // [2, A]: of leaving the state no, and the state yes
  std::vector<std::vector<bool>> excludes_;
  Tensor labels_;                 // [N, A] uint8 of the training images
  std::array<std::vector<std::vector<std::int64_t>>, 2> members_;   // [no, yes][attribute]: which training images
  Tensor sums_, latest_;          // [2 sides, 3 (count, Σy, Σy²), A], fading
};

}  // namespace spnn
