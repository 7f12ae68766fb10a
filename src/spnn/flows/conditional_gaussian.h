#pragma once

#include <spnn/blocks/subnet.h>
#include <spnn/core/shape.h>

#include <memory>

namespace spnn {

// N(v; mean(u), exp(log_scale(u))²), one value per element, from a net whose output is [mean | log_scale]; without a net
// the standard normal. log_scale is bounded softly to ±8, so that no early step divides by nothing.
class ConditionalGaussian {
 public:
  explicit ConditionalGaussian(std::shared_ptr<Subnet> net) : net_(std::move(net)) {}

  struct Standardised {
    Tensor z;       // (v − mean)·exp(−log_scale)
    Tensor log_p;   // [B]
  };
  Standardised standardise(const Tensor& v, const Tensor& u) const;
  Tensor place(const Tensor& z, const Tensor& u) const;   // v = mean + exp(log_scale)·z
  Tensor log_p(const Tensor& v, const Tensor& u) const { return standardise(v, u).log_p; }

  const std::shared_ptr<Subnet>& net() const { return net_; }

 private:
  struct Moments {
    Tensor mean, log_scale;
  };
  Moments moments(const Tensor& u) const;

  std::shared_ptr<Subnet> net_;
};

// bound·tanh(raw/bound): near the identity for small values.
Tensor softly_bounded(const Tensor& raw, double bound = 8.0);

}  // namespace spnn
