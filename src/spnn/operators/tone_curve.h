#pragma once

#include <torch/types.h>

#include <memory>
#include <vector>

namespace spnn {

using torch::Tensor;

// φ: an elementwise diffeomorphism of the real line, φ(−1) = −1 and φ(1) = 1 (pixels live in [−1, 1]). Where the
// textbook formula ends, it continues along its tangent: A†y may leave the pixel range.
class ToneCurve {
 public:
  virtual ~ToneCurve() = default;
  virtual Tensor forward(const Tensor& x) const = 0;    // φ
  virtual Tensor inverse(const Tensor& y) const = 0;    // φ⁻¹
};

// Over the intensity w = (x+1)/2: ((w+a)^γ − a^γ)/((1+a)^γ − a^γ). The offset a, as in sRGB, keeps the slope at black
// finite and positive.
class GammaCurve final : public ToneCurve {
 public:
  explicit GammaCurve(double gamma, double offset = 0.055);
  Tensor forward(const Tensor& x) const override;
  Tensor inverse(const Tensor& y) const override;

 private:
  double gamma_, offset_, low_, span_, slope_;
};

// Over the intensity w: log(1 + k·w)/log(1 + k), a logarithmic sensor.
class LogCurve final : public ToneCurve {
 public:
  explicit LogCurve(double k = 50.0);
  Tensor forward(const Tensor& x) const override;
  Tensor inverse(const Tensor& y) const override;

 private:
  double k_, scale_, slope_;
};

// μ-law companding, sign(x)·log(1 + μ|x|)/log(1 + μ).
class CompandingCurve final : public ToneCurve {
 public:
  explicit CompandingCurve(double mu = 255.0);
  Tensor forward(const Tensor& x) const override;
  Tensor inverse(const Tensor& y) const override;

 private:
  double mu_, scale_;
};

// sRGB: light to stored values, or the inverse (a lens blurs light, not stored values). Linear near black, so that its
// slope is finite; continued beyond 0 and 1 along its tangents.
class SrgbCurve final : public ToneCurve {
 public:
  explicit SrgbCurve(bool encode) : encode_(encode) {}
  Tensor forward(const Tensor& x) const override;
  Tensor inverse(const Tensor& y) const override;

 private:
  bool encode_;
};

// Straight lines between knots (w, v) of intensities, from (0, 0) to (1, 1), strictly increasing: any tone curve.
class KnotCurve final : public ToneCurve {
 public:
  explicit KnotCurve(std::vector<std::pair<double, double>> knots);
  Tensor forward(const Tensor& x) const override;
  Tensor inverse(const Tensor& y) const override;

 private:
  std::vector<double> w_, v_;
};

}  // namespace spnn
