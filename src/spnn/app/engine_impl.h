#pragma once

// The functions behind the façade's virtuals, one topic a file.

#include <spnn/app/engine.h>

namespace spnn::app {

DataInfo data_info(const DataInfoJob& job, Observer& observer);
DataSheet data_sheet(const DataSheetJob& job, Observer& observer);
std::string inspect(const InspectJob& job);
std::string convert(const ConvertJob& job);
RestorationReport reconstruct(const ReconstructJob& job, Observer& observer);
RestorationReport edit(const EditJob& job, Observer& observer);
FieldCatalogue field_catalogue();
RestoreReport restore_images(const RestoreJob& job, Observer& observer);
ExperimentResult compare(const CompareJob& job, Observer& observer);
ExperimentResult evaluate_reconstruction(const ReconstructionExperiment& job, Observer& observer);
ExperimentResult evaluate_editing(const EditingExperiment& job, Observer& observer);
ExperimentResult evaluate_prior(const PriorExperiment& job, Observer& observer);
ExperimentResult ablate(const AblationExperiment& job, Observer& observer);
void train_prior(const TrainJob& job, Observer& observer);
SampleReport sample(const SampleJob& job, Observer& observer);
void train_classifier(const ClassifierJob& job, Observer& observer);
void train_inverse(const InverseJob& job, Observer& observer);
void train_judge(const TrainJob& job, Observer& observer);
DegradationReport train_degradation(const DegradationJob& job, Observer& observer);
VerifyReport verify(const VerifyJob& job, Observer& observer);
ProjectReport pinv(const PinvJob& job, Observer& observer);
ProjectReport project(const ProjectJob& job, Observer& observer);
void plot_run(const std::string& run, const std::string& output);
ClassifierFigures evaluate_classifier(const EvaluateClassifierJob& job, Observer& observer);
void train_density(const TrainJob& job, Observer& observer);
DensitySampleReport sample_density(const DensitySampleJob& job, Observer& observer);
DensityInterpolateReport interpolate_density(const DensityInterpolateJob& job, Observer& observer);
DensityFigures evaluate_density(const DensityEvaluateJob& job, Observer& observer);
PreimagesReport preimages(const PreimagesJob& job, Observer& observer);
InversesReport compare_inverses(const InversesJob& job, Observer& observer);

}  // namespace spnn::app
