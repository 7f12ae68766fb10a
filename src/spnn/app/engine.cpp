#include <spnn/app/engine_impl.h>

#include <spnn/core/errors.h>

#include <ATen/Parallel.h>

#include <interface_id.h>

#include <ostream>

namespace spnn::app {
namespace {

class TorchEngine final : public Engine {
 public:
  void set_threads(int threads) override { at::set_num_threads(threads); }

  int report(const std::exception& error, std::ostream& out) const override {
    out << what_without_backtrace(error) << "\n";
    if (dynamic_cast<const UsageError*>(&error)) return 2;
    if (dynamic_cast<const Interrupted*>(&error)) return 130;
    return 1;
  }

  DataInfo data_info(const DataInfoJob& job, Observer& observer) override { return app::data_info(job, observer); }
  DataSheet data_sheet(const DataSheetJob& job, Observer& observer) override { return app::data_sheet(job, observer); }
  std::string inspect(const InspectJob& job) override { return app::inspect(job); }
  std::string convert(const ConvertJob& job) override { return app::convert(job); }
  RestorationReport reconstruct(const ReconstructJob& job, Observer& observer) override {
    return app::reconstruct(job, observer);
  }
  RestorationReport edit(const EditJob& job, Observer& observer) override {
    return app::edit(job, observer);
  }
  FieldCatalogue field_catalogue() override { return app::field_catalogue(); }
  RestoreReport restore_images(const RestoreJob& job, Observer& observer) override { return app::restore_images(job, observer); }
  ExperimentResult compare(const CompareJob& job, Observer& observer) override { return app::compare(job, observer); }
  ExperimentResult evaluate_reconstruction(const ReconstructionExperiment& job, Observer& observer) override {
    return app::evaluate_reconstruction(job, observer);
  }
  ExperimentResult evaluate_editing(const EditingExperiment& job, Observer& observer) override {
    return app::evaluate_editing(job, observer);
  }
  ExperimentResult evaluate_prior(const PriorExperiment& job, Observer& observer) override {
    return app::evaluate_prior(job, observer);
  }
  ExperimentResult ablate(const AblationExperiment& job, Observer& observer) override {
    return app::ablate(job, observer);
  }
  void train_prior(const TrainJob& job, Observer& observer) override { app::train_prior(job, observer); }
  SampleReport sample(const SampleJob& job, Observer& observer) override { return app::sample(job, observer); }
  void train_classifier(const ClassifierJob& job, Observer& observer) override { app::train_classifier(job, observer); }
  void train_inverse(const InverseJob& job, Observer& observer) override { app::train_inverse(job, observer); }
  void train_judge(const TrainJob& job, Observer& observer) override { app::train_judge(job, observer); }
  DegradationReport train_degradation(const DegradationJob& job, Observer& observer) override { return app::train_degradation(job, observer); }
  VerifyReport verify(const VerifyJob& job, Observer& observer) override { return app::verify(job, observer); }
  ProjectReport pinv(const PinvJob& job, Observer& observer) override { return app::pinv(job, observer); }
  ProjectReport project(const ProjectJob& job, Observer& observer) override { return app::project(job, observer); }
  void plot_run(const std::string& run, const std::string& output) override { app::plot_run(run, output); }
  ClassifierFigures evaluate_classifier(const EvaluateClassifierJob& job, Observer& observer) override {
    return app::evaluate_classifier(job, observer);
  }
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

// The launcher compares this hash of the façade's headers with its own before it calls the engine.
extern "C" const char* spnn_interface_id() { return SPNN_INTERFACE_ID; }

extern "C" spnn::app::Engine* spnn_engine() {
  static spnn::app::TorchEngine engine;
  return &engine;
}
