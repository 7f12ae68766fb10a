#pragma once

// The façade: everything a user interface can ask for, in std types and without a torch header. The command line loads
// it at run time (loading libtorch takes 0.6 s, which `--help` and a mistyped option should not cost): hence virtual
// functions, which are called through the object that `spnn_engine` returns and need not be linked. Each is defined in
// the file of its topic in jobs/.

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
  virtual void set_threads(int threads);

  // Writes one line for a failure and returns the exit code: 1 failure, 2 usage, 130 interrupted.
  virtual int report(const std::exception& error, std::ostream& out) const;

  // Models that stay loaded, for any number of requests.
  virtual std::unique_ptr<Session> open(const SessionConfig& config);

  // Pictures in memory. `extension`: "png", "jpg" or "webp".
  virtual Image decode(const std::vector<std::uint8_t>& file, const std::string& name) const;
  virtual std::vector<std::uint8_t> encode(const Image& image, const std::string& extension, int jpeg_quality = 95) const;
  // A photo upright, cut to its box (or the middle square) and resized.
  virtual Image fit(const Photo& photo, std::int64_t width, std::int64_t height) const;

  // Files as they are, folders as the images in them, sorted.
  virtual std::vector<std::string> image_files(const std::vector<std::string>& places) const;
  // All of the text or an error: the old file stays until the new one is whole.
  virtual void write_file(const std::string& file, const std::string& text) const;

  virtual DataInfo data_info(const DataInfoJob& job, Observer& observer);
  virtual DataSheet data_sheet(const DataSheetJob& job, Observer& observer);
  virtual std::string inspect(const InspectJob& job);   // a report in JSON
  virtual std::string convert(const ConvertJob& job, Observer& observer);   // what the file was, in a sentence

  // The field: every operator, every method, one comparison.
  virtual FieldCatalogue field_catalogue();
  virtual ExperimentResult compare(const CompareJob& job, Observer& observer);

  virtual ExperimentResult evaluate_reconstruction(const ReconstructionExperiment& job, Observer& observer);
  virtual ExperimentResult evaluate_editing(const EditingExperiment& job, Observer& observer);
  virtual ExperimentResult evaluate_photos(const PhotosExperiment& job, Observer& observer);
  virtual ExperimentResult evaluate_prior(const PriorExperiment& job, Observer& observer);
  virtual ExperimentResult evaluate_cascade(const CascadeExperiment& job, Observer& observer);
  virtual ExperimentResult ablate(const AblationExperiment& job, Observer& observer);

  virtual void train_prior(const TrainJob& job, Observer& observer);
  virtual void train_classifier(const ClassifierJob& job, Observer& observer);
  virtual void train_natural(const NaturalJob& job, Observer& observer);
  virtual void train_inverse(const InverseJob& job, Observer& observer);
  virtual void train_judge(const TrainJob& job, Observer& observer);
  virtual void train_upscaler(const TrainJob& job, Observer& observer);
  virtual void train_identity(const IdentityJob& job, Observer& observer);
  virtual IdentityFigures evaluate_identity(const EvaluateIdentityJob& job, Observer& observer);
  virtual void plot_run(const std::string& run, const std::string& output);
  virtual ClassifierFigures evaluate_classifier(const EvaluateClassifierJob& job, Observer& observer);
  virtual DegradationReport train_degradation(const DegradationJob& job, Observer& observer);

  // Densities: flows, which SPNN grew out of.
  virtual void train_density(const TrainJob& job, Observer& observer);
  virtual DensitySampleReport sample_density(const DensitySampleJob& job, Observer& observer);
  virtual DensityInterpolateReport interpolate_density(const DensityInterpolateJob& job, Observer& observer);
  virtual DensityFigures evaluate_density(const DensityEvaluateJob& job, Observer& observer);

  // Other inverses.
  virtual PreimagesReport preimages(const PreimagesJob& job, Observer& observer);
  virtual InversesReport compare_inverses(const InversesJob& job, Observer& observer);
};

}  // namespace spnn::engine

// The one symbol that the launcher looks up in libspnn.
extern "C" spnn::engine::Engine* spnn_engine();
