#pragma once

#include <spnn/core/shape.h>

#include <string>
#include <vector>

namespace spnn {

// What a sensor adds to y. Levels are in units of pixels in [0, 1], as papers state them. Our pixels are in [−1, 1], so the
// standard deviation doubles: code that forgets this applies half the noise it states.
struct MeasurementNoise {
  enum class Kind { none, gaussian, poisson };
  Kind kind = Kind::none;
  double level = 0;   // Gaussian: σ in [0, 1] units; Poisson: photons at white
};

// "0", "0.05", "gaussian:0.05" or "poisson:100".
MeasurementNoise noise_from(const std::string& text);
std::string to_string(const MeasurementNoise& noise);

// Noise of image i depends on its seed only. Poisson asks for measurements that are intensities.
Tensor with_noise(const Tensor& y, const MeasurementNoise& noise, const std::vector<std::uint64_t>& seeds);

// The standard deviation in [−1, 1] units, for methods that ask for one; of Poisson noise that at the mean intensity.
double sigma_of(const MeasurementNoise& noise, const Tensor& y);

}  // namespace spnn
