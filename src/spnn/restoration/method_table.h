#pragma once

// The one list of methods and of what they can be told, without torch: restore, compare, help, errors, the studio and Python read it.

#include <string>
#include <vector>

namespace spnn {

struct MethodInfo {
  std::string name, what;
  bool linear_only = false;       // asks for a linear operator
  bool knows_noise = false;       // does not take y as exact
};

inline const std::vector<MethodInfo>& method_catalogue() {
  static const std::vector<MethodInfo> all = {
      {"nlbp", "non-linear back-projection of every x̂0, the paper's, as far as y is to be trusted; any operator", false, true},
      {"nlbp+", "x̂0 moved along what the prior takes for likely first, then back-projected; any operator, with gradients of the prior", false, true},
      {"ddnm", "null-space diffusion: x̂0 + A†(y − A x̂0)", true, false},
      {"ddnm+", "ddnm with the noise of y made part of the sampler's", true, true},
      {"ddrm", "diffusion coordinate by coordinate of the SVD", true, true},
      {"snips", "annealed Langevin steps of the posterior in the SVD's coordinates", true, true},
      {"dps", "gradient of ‖y − g(x̂0)‖ through the prior; any operator", false, true},
      {"mcg", "dps, then the seen part replaced by noised A†y", true, false},
      {"repaint", "the seen part replaced by noised A†y, with time travel", true, false},
      {"pigdm", "ΠGDM: g†(y) − g†(g(x̂0)) through the prior; any operator, a network by its exact g†", false, true},
      {"diffpir", "half-quadratic splitting: x̂0 by the proximal map of ‖y − Ax‖²", true, true},
      {"diffpir-pinv", "diffpir with a step along A†(y − A x̂0) for the proximal map", true, true},
      {"diffpir-nlbp", "diffpir with back-projection for the proximal map; any operator", false, true},
      {"daps", "decoupled annealing: each noise level from a sample of p(x0 | x̂0, y), closed where g is linear, by Langevin steps else", false, true},
      {"red-diff", "variational: Adam on ‖y − g(μ)‖² and the prior's residual; any operator", false, true},
      {"mpgd", "gradient of ‖y − g(x̂0)‖ at x̂0, not through the prior; any operator", false, true},
      {"ibp", "iterative back-projection (Irani–Peleg) without a prior; any operator", false, false},
      {"pinv", "g†(y), nothing else; any operator", false, false},
  };
  return all;
}

// A number that some method can be told: option --a-b of the command, keyword a_b in Python.
struct MethodSetting {
  std::string name;
  double otherwise, low, high;
  std::string what;
};

inline const std::vector<MethodSetting>& method_settings() {
  static const std::vector<MethodSetting> all = {
      {"restarts", 1, 1, 64, "any method: runs from other noise, of which the one with the least |g(x) - y| is kept"},
      {"plus_corrections", 1, 0, 64, "nlbp+: conjugate gradients a step along the prior's covariance"},
      {"plus_reach", 10, 1, 1e6, "nlbp+: the longest step along it, in units of the residual"},
      {"plus_fresh", 1, 0, 1, "nlbp+: share of fresh noise in that of the next step; 0 leaves it to the sampler"},
      {"diffpir_lambda", 7, 0, 1e6, "diffpir: weight of the prior against the noise of y"},
      {"diffpir_zeta", 0.3, 0, 1, "diffpir: share of fresh noise a step"},
      {"diffpir_sigma", 0.001, 0, 1, "diffpir: least noise of y that is assumed, pixels in [0, 1]"},
      {"daps_ode", 2, 1, 100, "daps: evaluations of the prior a noise level, of --steps in all"},
      {"daps_beta", 0.01, 1e-6, 1, "daps: least noise of y that is assumed, pixels in [0, 1]"},
      {"daps_langevin", 100, 1, 100000, "daps: Langevin steps a noise level where g is not linear"},
      {"daps_step", 0.3, 1e-6, 1, "daps: their length, in units of the curvature"},
      {"reddiff_lambda", 0.25, 0, 1e6, "red-diff: weight of the prior"},
      {"reddiff_rate", 0.1, 1e-6, 10, "red-diff: Adam's step"},
      {"mpgd_step", 5, 0, 1e6, "mpgd: step along -grad |y - g(x0)|, as the paper states it for 3x256x256 and 100 steps; scaled to yours"},
  };
  return all;
}

}  // namespace spnn
