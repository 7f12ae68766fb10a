#include <spnn/app/relatives_impl.h>
#include <spnn/app/relatives.h>

namespace spnn::app {
namespace {

class TorchRelatives final : public Relatives {
 public:
  void train_density(const TrainJob& job, Observer& observer) override { app::train_density(job, observer); }
  DensitySampleReport sample_density(const DensitySampleJob& job, Observer& observer) override {
    return app::sample_density(job, observer);
  }
  DensityInterpolateReport interpolate_density(const DensityInterpolateJob& job, Observer& observer) override {
    return app::interpolate_density(job, observer);
  }
  DensityFigures evaluate_density(const DensityEvaluateJob& job, Observer& observer) override {
    return app::evaluate_density(job, observer);
  }
  PreimagesReport preimages(const PreimagesJob& job, Observer& observer) override { return app::preimages(job, observer); }
  InversesReport compare_inverses(const InversesJob& job, Observer& observer) override {
    return app::compare_inverses(job, observer);
  }
};

}  // namespace
}  // namespace spnn::app

extern "C" spnn::app::Relatives* spnn_relatives() {
  static spnn::app::TorchRelatives relatives;
  return &relatives;
}
