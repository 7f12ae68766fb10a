#pragma once

#include <spnn/blocks/subnet.h>

#include <memory>

namespace spnn {

// The pluggable networks of a coupling: either s and t apart, or one net `st` whose output is [s | t] (the two then
// share their trunk at half the cost). An additive coupling has only t.
struct CouplingNets {
  std::shared_ptr<Subnet> s, t, st;
};

// u0 ⊙ exp(b·tanh(s(u1))) + t(u1) and its inverse. The inverse negates the exponent: it never divides by a network.
class ScaleShift {
 public:
  ScaleShift(CouplingNets nets, double scale_bound);

  void register_into(torch::nn::Module& owner) const;   // as `s`, `t` or `st`
  Tensor apply(const Tensor& u0, const Tensor& u1) const;
  Tensor undo(const Tensor& y, const Tensor& u1) const;

 private:
  struct Parts {
    Tensor log_scale, shift;   // log_scale undefined: no scaling
  };
  Parts parts(const Tensor& u1) const;

  CouplingNets nets_;
  double scale_bound_;
};

}  // namespace spnn
