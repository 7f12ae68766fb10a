#pragma once

// The paper's own settings to the letter, for every front end (`--profile paper`). Ours are the defaults of the structs; docs/paper_profile.md
// has what each difference gives.

#include <spnn/engine/restoration.h>
#include <spnn/engine/sampling.h>

#include <limits>

namespace spnn::engine::paper {

// What an edit is: from noise or by drawing a photo again, with targets that follow y_cur at every step.
inline constexpr bool each_step = true, redraw = true;
inline constexpr const char* strategy = "correlated";                            // covariance where correlated, else sparse
inline constexpr double strength = 2;                                            // the goal is μ ± 2σ,
inline constexpr double margin = -std::numeric_limits<double>::infinity();       // however little that is

// 100 steps of DDPM; every stretch of an edit is walked twice.
inline SamplingOptions sampling(bool editing) { return {.steps = 100, .sampler = "ddpm", .travel_length = 1, .travel_repeat = editing ? 2 : 1}; }

// `attributes`: how many are edited; 0 is reconstruction, with λ = 1 everywhere (two levels of λ are the public code's). What is sampled is saved:
// projections at the end are ours.
inline GuidanceOptions guidance(std::size_t attributes) {
  return {.pseudo_inverse = "learned", .metric = "plain", .schedule = attributes == 0 ? "constant" : "adaptive", .lambda = 1,
          .window_from = attributes == 0 ? 1000 : attributes == 1 ? 500 : 800, .final_projections = 0};
}

}  // namespace spnn::engine::paper
