#pragma once

#include <spnn/core/names.h>

#include <array>

namespace spnn {

// How one step of a chain is drawn.
enum class SamplerKind {
  ddpm,        // the fixed-small posterior of the respaced chain
  ddim,        // DDIM-η
  dpm,         // DPM-Solver++(2M): second order, from this x̂0 and the one before, both as corrected
  reference,   // σ² = 1 − ᾱ_t/ᾱ_s, the public SPNN code's; for parity only: 21 times the scheduled variance near the end
};

// Where the steps of a chain lie.
enum class Spacing {
  uniform,     // k·T/count
  quadratic,   // t ~ k²: close together where the image is nearly clean
  log_snr,     // equal steps of log(ᾱ/(1−ᾱ))
  rho7,        // σ^(1/7) in equal steps, σ² = (1−ᾱ)/ᾱ
};

inline constexpr std::array kSamplers = {Named{SamplerKind::ddpm, "ddpm"}, Named{SamplerKind::ddim, "ddim"},
                                         Named{SamplerKind::dpm, "dpm"}, Named{SamplerKind::reference, "reference"}};
inline constexpr std::array kSpacings = {Named{Spacing::uniform, "uniform"}, Named{Spacing::quadratic, "quadratic"},
                                         Named{Spacing::log_snr, "log-snr"}, Named{Spacing::rho7, "rho7"}};

// Unknown words are errors that list these.
SamplerKind sampler_from(std::string_view name);
Spacing spacing_from(std::string_view name);

}  // namespace spnn
