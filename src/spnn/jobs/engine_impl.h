#pragma once

// The engine: each function is defined in the file of its topic. Internal to jobs/.

#include <spnn/engine/engine.h>

namespace spnn::engine {

class TorchEngine final : public Engine {
 public:
  void set_threads(int threads) override;
  int report(const std::exception& error, std::ostream& out) const override;
  std::unique_ptr<Session> open(const SessionConfig& config) override;
  Image decode(const std::vector<std::uint8_t>& file, const std::string& name) const override;
  std::vector<std::uint8_t> encode(const Image& image, const std::string& extension, int jpeg_quality) const override;
  Image fit(const Photo& photo, std::int64_t width, std::int64_t height) const override;
  std::vector<std::string> image_files(const std::vector<std::string>& places) const override;
  void write_file(const std::string& file, const std::string& text) const override;
  DataInfo data_info(const DataInfoJob& job, Observer& observer) override;
  DataSheet data_sheet(const DataSheetJob& job, Observer& observer) override;
  std::string inspect(const InspectJob& job) override;
  std::string convert(const ConvertJob& job, Observer& observer) override;
  FieldCatalogue field_catalogue() override;
  ExperimentResult compare(const CompareJob& job, Observer& observer) override;
  ExperimentResult evaluate_reconstruction(const ReconstructionExperiment& job, Observer& observer) override;
  ExperimentResult evaluate_editing(const EditingExperiment& job, Observer& observer) override;
  ExperimentResult evaluate_photos(const PhotosExperiment& job, Observer& observer) override;
  ExperimentResult evaluate_prior(const PriorExperiment& job, Observer& observer) override;
  ExperimentResult evaluate_cascade(const CascadeExperiment& job, Observer& observer) override;
  ExperimentResult ablate(const AblationExperiment& job, Observer& observer) override;
  void train_prior(const TrainJob& job, Observer& observer) override;
  void train_classifier(const ClassifierJob& job, Observer& observer) override;
  void train_inverse(const InverseJob& job, Observer& observer) override;
  void train_natural(const NaturalJob& job, Observer& observer) override;
  void train_judge(const TrainJob& job, Observer& observer) override;
  void train_upscaler(const TrainJob& job, Observer& observer) override;
  void train_identity(const IdentityJob& job, Observer& observer) override;
  IdentityFigures evaluate_identity(const EvaluateIdentityJob& job, Observer& observer) override;
  void plot_run(const std::string& run, const std::string& output) override;
  ClassifierFigures evaluate_classifier(const EvaluateClassifierJob& job, Observer& observer) override;
  DegradationReport train_degradation(const DegradationJob& job, Observer& observer) override;
  void train_density(const TrainJob& job, Observer& observer) override;
  DensitySampleReport sample_density(const DensitySampleJob& job, Observer& observer) override;
  DensityInterpolateReport interpolate_density(const DensityInterpolateJob& job, Observer& observer) override;
  DensityFigures evaluate_density(const DensityEvaluateJob& job, Observer& observer) override;
  PreimagesReport preimages(const PreimagesJob& job, Observer& observer) override;
  InversesReport compare_inverses(const InversesJob& job, Observer& observer) override;
};

}  // namespace spnn::engine
