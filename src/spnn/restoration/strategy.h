#pragma once

#include <spnn/core/names.h>

#include <array>

namespace spnn {

// How the outputs nobody asked about follow the ones that were.
enum class Strategy {
  automatic,    // exemplar where the statistics have some that fit; else covariance where the attribute is correlated
                // with another by `correlated` or more; else sparse
  correlated,   // covariance where the attribute is correlated with another by `correlated` or more; else sparse: the paper's
  sparse,       // not at all: only the controlled entries are set
  covariance,   // Δy_rest = Σ_rest,S Σ_SS⁻¹ Δy_S
  exemplar,     // all outputs become those of the training image that has the attributes and is nearest in the probabilities of the others:
                // what r has seen. A far step along the covariance leads where no image is, and r's answer is no face
};

inline constexpr std::array kStrategies = {Named{Strategy::automatic, "auto"}, Named{Strategy::exemplar, "exemplar"},
                                           Named{Strategy::correlated, "correlated"}, Named{Strategy::covariance, "covariance"},
                                           Named{Strategy::sparse, "sparse"}};

Strategy strategy_from(std::string_view name);   // an unknown one is an Error that lists all
std::string to_string(Strategy strategy);

}  // namespace spnn
