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

// The standard deviation of one measurement in [−1, 1] units, for methods that ask for one; of Poisson noise that at the
// mean intensity.
double sigma_of(const MeasurementNoise& noise, const Tensor& y);

// Standard deviations of a batch: one for all images, or one for each.
class NoiseLevels {
 public:
  NoiseLevels(double all = 0) : levels_{all} {}                                          // NOLINT: a number is a level
  explicit NoiseLevels(std::vector<double> of_each) : levels_(std::move(of_each)) {}

  const std::vector<double>& levels() const { return levels_; }
  bool any() const;                              // one is not 0
  Tensor along(std::int64_t dims) const;         // float64 [1 or B, 1, …]
  NoiseLevels slice(std::int64_t from, std::int64_t to) const;

 private:
  std::vector<double> levels_;
};
NoiseLevels sigmas_of(const MeasurementNoise& noise, const Tensor& y);   // of each row of y

}  // namespace spnn
