#pragma once

#include <spnn/degradations/degradation_network.h>
#include <spnn/degradations/fit_statistics.h>
#include <spnn/training/inverse.h>
#include <spnn/training/labelled_batches.h>
#include <spnn/training/train_config.h>

#include <functional>

namespace spnn {

// λ of the fit. Every squared norm is a mean over the elements.
struct DegradationLosses {
  double task = 1;           // ‖g(x) − T D(x)‖²
  double regression = 0.1;   // ‖z − r(y)‖²
  double stability = 0;      // ‖x − g†(g(x))‖²: costs an inverse pass
  double restoration = 1;    // ‖x − g†(T D(x))‖²: another. What D did and g does not know must not be magnified on the way back
};

// How g ≈ T∘D is fitted: all weights together, then r alone (phase II).
struct DegradationRecipe {
  std::int64_t image_size = 64, channels = 3;
  std::string keep;               // T, as Reduction reads it; "" is the default for the degradation
  DegradationNetworkConfig network;
  DegradationLosses losses;
  AugmentConfig augment;
  TrainConfig train;
  InverseRecipe inverse;

  Shape picture() const { return {channels, image_size, image_size}; }
};

void to_json(Json& json, const DegradationRecipe& recipe);
void from_json(const Json& json, DegradationRecipe& recipe);   // {} is a recipe too

// Clean pictures, and D(x) of a batch of them.
struct DegradedImages {
  const Dataset& clean;
  std::function<Tensor(const Batch&)> D;
};

// How far a map is from T∘D on held-out pictures.
struct FitError {
  double rms = 0;    // of the entries of y, in units of pixels in [0, 1]
  double psnr = 0;   // of the pictures T†g(x) against T†T D(x), dB
};
FitError fit_error(const std::function<Tensor(const Tensor&)>& g, const Reduction& T, const DegradedImages& images, std::int64_t count);

FitStatistics fit_statistics(const std::function<Tensor(const Tensor&)>& g, const Reduction& T, const DegradedImages& images, std::int64_t count);

class DegradationObjective final : public Objective {
 public:
  // `about` goes into the model file beside what the network needs: the degradation's name.
  DegradationObjective(DegradationRecipe recipe, const Reduction& T, DegradedImages train, DegradedImages val,
                       std::map<std::string, std::string> about = {});

  torch::nn::Module& module() override { return *net_; }
  Losses losses(std::int64_t step, Share share) override;
  Validation validate() override;
  std::map<std::string, std::string> metadata() const override;
  const Spnn& net() const { return *net_; }

 private:
  DegradationRecipe recipe_;
  const Reduction& T_;
  DegradedImages train_, val_;
  std::map<std::string, std::string> about_;
  LabelledBatches batches_;
  std::shared_ptr<Spnn> net_;
};

inline constexpr std::int64_t fit_images = 1024;   // of the held-out ones, for the figures

}  // namespace spnn
