#pragma once

#include <spnn/core/names.h>

#include <array>
#include <string_view>

namespace spnn {

// How the discarded part z_l is chosen from y_l; every choice gives g g† = I.
enum class PseudoInverse {
  learned,    // r_l(y_l), the paper's, trained in phase II
  origin,     // q_l(0), a constant: Definition 4.2 for the plain G in closed form
  anchored,   // q_l(0) + ρ_l(y_l) − ρ_l(y_l(0)): the learned ρ, shifted so that g†(g(0)) = 0
  random,     // r with random weights, for the ablation
  min_norm,   // r trained on ‖g†(y)‖², for the ablation
};

// Which completion NLBP moves in.
enum class Metric {
  plain,      // G(x) = [g(x) | z_l]
  residual,   // G_r(x) = [g(x) | z_l − r_l(y_l)]
  naive,      // none: x + λ (g†(y) − g†(g(x))), for the ablation
};

inline constexpr std::array kPseudoInverses = {Named{PseudoInverse::learned, "learned"}, Named{PseudoInverse::anchored, "anchored"},
                                               Named{PseudoInverse::origin, "origin"}, Named{PseudoInverse::random, "random"},
                                               Named{PseudoInverse::min_norm, "min-norm"}};
inline constexpr std::array kMetrics = {Named{Metric::plain, "plain"}, Named{Metric::residual, "residual"}, Named{Metric::naive, "naive"}};

// Unknown words are errors that list these.
PseudoInverse pseudo_inverse_from(std::string_view word);
Metric metric_from(std::string_view word);
std::string_view to_string(PseudoInverse choice);
std::string_view to_string(Metric metric);

}  // namespace spnn
