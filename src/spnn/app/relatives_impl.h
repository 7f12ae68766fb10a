#pragma once

// The functions behind the façade of the relatives. Internal to app/.

#include <spnn/app/relatives.h>

namespace spnn {
struct Dataset;
struct FlowConfig;
enum class Split;
}  // namespace spnn

namespace spnn::app {

void train_density(const TrainJob& job, Observer& observer);
DensitySampleReport sample_density(const DensitySampleJob& job, Observer& observer);
DensityInterpolateReport interpolate_density(const DensityInterpolateJob& job, Observer& observer);
DensityFigures evaluate_density(const DensityEvaluateJob& job, Observer& observer);
PreimagesReport preimages(const PreimagesJob& job, Observer& observer);
InversesReport compare_inverses(const InversesJob& job, Observer& observer);

// Images as the flow sees them: of its size, the border cut off.
Dataset load_for_flow(const std::string& data, Split split, const FlowConfig& config, std::int64_t limit = 0);
void cut_border(Dataset& set, std::int64_t border);

}  // namespace spnn::app
