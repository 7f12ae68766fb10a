#pragma once

// The façade: everything a user interface can ask for, in std types and without a torch header. The command line loads
// it at run time (loading libtorch takes 0.6 s, which `--help` and a mistyped option should not cost).

#include <spnn/engine/data.h>
#include <spnn/engine/density.h>
#include <spnn/engine/evaluate_classifier.h>
#include <spnn/engine/evaluate_identity.h>
#include <spnn/engine/experiments.h>
#include <spnn/engine/field.h>
#include <spnn/engine/inverses.h>
#include <spnn/engine/model_files.h>
#include <spnn/engine/sampling.h>
#include <spnn/engine/session.h>
#include <spnn/engine/training.h>
#include <spnn/engine/watch.h>

#include <exception>
#include <iosfwd>
#include <memory>

namespace spnn::engine {

class Engine {
 public:
  virtual ~Engine() = default;
  virtual void set_threads(int threads) = 0;

  // Writes one line for a failure and returns the exit code: 1 failure, 2 usage, 130 interrupted.
  virtual int report(const std::exception& error, std::ostream& out) const = 0;

  // Models that stay loaded, for any number of requests.
  virtual std::unique_ptr<Session> open(const SessionConfig& config) = 0;

  // Pictures in memory. `extension`: "png", "jpg" or "webp".
  virtual Image decode(const std::vector<std::uint8_t>& file, const std::string& name) const = 0;
  virtual std::vector<std::uint8_t> encode(const Image& image, const std::string& extension, int jpeg_quality = 95) const = 0;
  // A photo upright, cut to its box (or the middle square) and resized.
  virtual Image fit(const Photo& photo, std::int64_t width, std::int64_t height) const = 0;

  // Files as they are, folders as the images in them, sorted.
  virtual std::vector<std::string> image_files(const std::vector<std::string>& places) const = 0;
  // All of the text or an error: the old file stays until the new one is whole.
  virtual void write_file(const std::string& file, const std::string& text) const = 0;

  virtual DataInfo data_info(const DataInfoJob& job, Observer& observer) = 0;
  virtual DataSheet data_sheet(const DataSheetJob& job, Observer& observer) = 0;
  virtual std::string inspect(const InspectJob& job) = 0;   // a report in JSON
  virtual std::string convert(const ConvertJob& job, Observer& observer) = 0;   // what the file was, in a sentence

  // The field: every operator, every method, one comparison.
  virtual FieldCatalogue field_catalogue() = 0;
  virtual ExperimentResult compare(const CompareJob& job, Observer& observer) = 0;

  virtual ExperimentResult evaluate_reconstruction(const ReconstructionExperiment& job, Observer& observer) = 0;
  virtual ExperimentResult evaluate_editing(const EditingExperiment& job, Observer& observer) = 0;
  virtual ExperimentResult evaluate_photos(const PhotosExperiment& job, Observer& observer) = 0;
  virtual ExperimentResult evaluate_prior(const PriorExperiment& job, Observer& observer) = 0;
  virtual ExperimentResult evaluate_cascade(const CascadeExperiment& job, Observer& observer) = 0;
  virtual ExperimentResult ablate(const AblationExperiment& job, Observer& observer) = 0;

  virtual void train_prior(const TrainJob& job, Observer& observer) = 0;
  virtual void train_classifier(const ClassifierJob& job, Observer& observer) = 0;
  virtual void train_natural(const NaturalJob& job, Observer& observer) = 0;
  virtual void train_inverse(const InverseJob& job, Observer& observer) = 0;
  virtual void train_judge(const TrainJob& job, Observer& observer) = 0;
  virtual void train_upscaler(const TrainJob& job, Observer& observer) = 0;
  virtual void train_identity(const IdentityJob& job, Observer& observer) = 0;
  virtual IdentityFigures evaluate_identity(const EvaluateIdentityJob& job, Observer& observer) = 0;
  virtual void plot_run(const std::string& run, const std::string& output) = 0;
  virtual ClassifierFigures evaluate_classifier(const EvaluateClassifierJob& job, Observer& observer) = 0;
  virtual DegradationReport train_degradation(const DegradationJob& job, Observer& observer) = 0;

  // Densities: flows, which SPNN grew out of.
  virtual void train_density(const TrainJob& job, Observer& observer) = 0;
  virtual DensitySampleReport sample_density(const DensitySampleJob& job, Observer& observer) = 0;
  virtual DensityInterpolateReport interpolate_density(const DensityInterpolateJob& job, Observer& observer) = 0;
  virtual DensityFigures evaluate_density(const DensityEvaluateJob& job, Observer& observer) = 0;

  // Other inverses.
  virtual PreimagesReport preimages(const PreimagesJob& job, Observer& observer) = 0;
  virtual InversesReport compare_inverses(const InversesJob& job, Observer& observer) = 0;
};

}  // namespace spnn::engine

// The one symbol that the launcher looks up in libspnn.
extern "C" spnn::engine::Engine* spnn_engine();
