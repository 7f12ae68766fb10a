#pragma once

// The façade: everything a user interface can ask for, in std types and without a torch header. The command line loads
// it at run time (loading libtorch takes 0.6 s, which `--help` and a mistyped option should not cost).

#include <spnn/app/data.h>
#include <spnn/app/density.h>
#include <spnn/app/evaluate_classifier.h>
#include <spnn/app/experiments.h>
#include <spnn/app/field.h>
#include <spnn/app/inverses.h>
#include <spnn/app/model_files.h>
#include <spnn/app/projection.h>
#include <spnn/app/sampling.h>
#include <spnn/app/training.h>
#include <spnn/core/observer.h>

#include <exception>
#include <iosfwd>

namespace spnn::app {

class Engine {
 public:
  virtual ~Engine() = default;
  virtual void set_threads(int threads) = 0;

  // Writes one line for a failure and returns the exit code: 1 failure, 2 usage, 130 interrupted.
  virtual int report(const std::exception& error, std::ostream& out) const = 0;

  virtual DataInfo data_info(const DataInfoJob& job, Observer& observer) = 0;
  virtual DataSheet data_sheet(const DataSheetJob& job, Observer& observer) = 0;
  virtual std::string inspect(const InspectJob& job) = 0;   // a report in JSON
  virtual std::string convert(const ConvertJob& job) = 0;   // what the file was, in a sentence

  // Restoration: every finished image is on the disk before the next batch begins.
  virtual RestorationReport reconstruct(const ReconstructJob& job, Observer& observer) = 0;
  virtual RestorationReport edit(const EditJob& job, Observer& observer) = 0;

  // The field: every operator, every method, one comparison.
  virtual FieldCatalogue field_catalogue() = 0;
  virtual RestoreReport restore_images(const RestoreJob& job, Observer& observer) = 0;
  virtual ExperimentResult compare(const CompareJob& job, Observer& observer) = 0;

  virtual ExperimentResult evaluate_reconstruction(const ReconstructionExperiment& job, Observer& observer) = 0;
  virtual ExperimentResult evaluate_editing(const EditingExperiment& job, Observer& observer) = 0;
  virtual ExperimentResult evaluate_prior(const PriorExperiment& job, Observer& observer) = 0;
  virtual ExperimentResult ablate(const AblationExperiment& job, Observer& observer) = 0;

  virtual void train_prior(const TrainJob& job, Observer& observer) = 0;
  virtual SampleReport sample(const SampleJob& job, Observer& observer) = 0;
  virtual void train_classifier(const ClassifierJob& job, Observer& observer) = 0;
  virtual void train_inverse(const InverseJob& job, Observer& observer) = 0;
  virtual void train_judge(const TrainJob& job, Observer& observer) = 0;
  virtual VerifyReport verify(const VerifyJob& job, Observer& observer) = 0;
  virtual ProjectReport pinv(const PinvJob& job, Observer& observer) = 0;
  virtual ProjectReport project(const ProjectJob& job, Observer& observer) = 0;
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

}  // namespace spnn::app

// The one symbol that the launcher looks up in libspnn.
extern "C" spnn::app::Engine* spnn_engine();
