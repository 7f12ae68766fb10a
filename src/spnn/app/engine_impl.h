#pragma once

// The functions behind the façade's virtuals, one topic a file.

#include <spnn/app/engine.h>

namespace spnn::app {

DataInfo data_info(const DataInfoJob& job, Observer& observer);
DataSheet data_sheet(const DataSheetJob& job, Observer& observer);
std::string inspect(const InspectJob& job);
std::string convert(const ConvertJob& job);
void train_prior(const TrainJob& job, Observer& observer);
SampleReport sample(const SampleJob& job, Observer& observer);
void train_classifier(const TrainJob& job, Observer& observer);
void train_judge(const TrainJob& job, Observer& observer);

}  // namespace spnn::app
