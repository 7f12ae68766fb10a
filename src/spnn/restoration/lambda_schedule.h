#pragma once

#include <spnn/core/names.h>

#include <array>

namespace spnn {

// How strong guidance is at a step (guidance.h has the functions).
enum class LambdaSchedule {
  constant,
  two_level,   // one λ early, another late: the paper's reconstruction from semantics
  adaptive,    // α·tanh(γ·|Δ|): the paper's editing
};

inline constexpr std::array kLambdaSchedules = {Named{LambdaSchedule::constant, "constant"}, Named{LambdaSchedule::two_level, "two-level"},
                                                Named{LambdaSchedule::adaptive, "adaptive"}};

LambdaSchedule lambda_schedule_from(std::string_view name);   // an unknown one is an Error that lists all

}  // namespace spnn
