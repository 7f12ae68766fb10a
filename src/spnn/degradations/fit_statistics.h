#pragma once

#include <spnn/core/config.h>

#include <vector>

namespace spnn {

// What a restoration should know of a fit g ≈ T∘D, a number for each channel of y. A model file carries it as `fit`.
struct FitStatistics {
  std::vector<double> error;    // mean square of g(x) − T D(x)
  std::vector<double> signal;   // variance of T D(x)
};

void to_json(Json& json, const FitStatistics& statistics);
void from_json(const Json& json, FitStatistics& statistics);

}  // namespace spnn
