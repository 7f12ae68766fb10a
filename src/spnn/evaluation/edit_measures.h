#pragma once

#include <spnn/core/config.h>
#include <spnn/evaluation/agreement.h>

namespace spnn {

// What an edit of attributes S did to images made from the same seeds as unguided ones, by anyone's logits.
struct EditMeasures {
  std::vector<double> right = {};   // of each controlled attribute: the share of images on the wanted side
  double all_right = 0;             // the share of images with all of them right
  double drift = 0;                 // share of the other attributes that changed sides from the unguided image of the same seed
  double drift_unguided = 0;        // the same between unguided images of different seeds: what no guidance at all would do
};

struct EditedSet {
  Tensor logits;                    // [N, A] of the edited images
  Tensor unguided;                  // [M, A] of unguided ones, M ≥ N; row i has the seed of row i
  std::vector<std::int64_t> attributes = {};
  std::vector<bool> present = {};   // what was wanted of each
};

EditMeasures measure_edit(const EditedSet& set);

// The share of real images for which `logits` agree that an attribute is (or is not) there, among those whose
// `reference` says so: as much as any edit can be expected to reach. NaN if there are none.
double recall_on(const Tensor& logits, const Tensor& reference, std::int64_t attribute, bool present);

}  // namespace spnn
