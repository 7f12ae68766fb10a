#pragma once

#include <spnn/restoration/target.h>

#include <optional>

namespace spnn {

// One attribute of a photo as a person wants it.
struct AttributeWish {
  std::int64_t attribute = 0;
  bool present = true;
  std::optional<double> probability = {};   // how sure g should be, in (0, 1); none: as sure as it is of photos that have (or lack) it,
  std::optional<double> value = {};         // or g's output itself
};

struct WishConfig {
  std::vector<AttributeWish> wishes = {};
  double amount = 1;                        // of wishes without a probability or value: so many times what photos with the attribute have
  std::vector<std::vector<std::int64_t>> exclusive = {};   // groups of which one is on: wishing one turns off the others that are
};

// y' of a photo from y = g(photo): the wished outputs at their goals, those they exclude at "no", all others as they are. A photo that
// is further on the wished side already stays there, unless a probability or a value was asked for. The order of the wishes does not matter.
class Wish {
 public:
  // requires: attributes in range, none twice, no two wished for that exclude each other.
  Wish(const LogitStatistics& statistics, const WishConfig& config);

  Tensor operator()(const Tensor& y) const;   // a Target; row i from row i

  Tensor controlled() const;                            // [S] int64, in the order of the wishes
  const std::vector<double>& goals() const { return goals_; }

 private:
  WishConfig config_;
  std::vector<double> goals_;      // of each wish
  std::vector<double> typical_no_;   // of every output
};

// What g says of training images that it sees an attribute in (or not): the mean of the exemplars on that side of 0, or μ ± 2σ where
// there are none.
double typical_output(const LogitStatistics& statistics, std::int64_t attribute, bool present);

}  // namespace spnn
