#pragma once

#include <spnn/restoration/field.h>
#include <spnn/restoration/trust.h>

namespace spnn::field {

// What an uncertain y says of x, as Gaussians of linear coordinates c = T x: each is `mean` with a variance of `variance`, and seen from x_t
// alone it is T x̂0 with a variance of about `open`. Two kinds of y are like that:
//   - y = A x + noise: c are the singular directions, c = S Vᵀx, with the noise's variance;
//   - rounded coefficients (JPEG): y says in which interval c lies. The Gaussian is the one whose product with N(T x̂0, open) has the mean and
//     the variance of the latter cut to the interval (one site of expectation propagation).
struct Evidence {
  std::function<Tensor(const Tensor& x)> T;
  std::function<Tensor(const Tensor& w)> adjoint;   // Tᵀ
  std::function<Tensor(const Tensor& c)> pinv;      // T†
  Tensor mean, variance, open;
};

// True where y is of one of these kinds and is not to be taken as exact.
bool has_evidence(const Problem& p, const MethodConfig& c, const Trust& trust);
Evidence evidence_of(const Problem& p, const Trust& trust, const Tensor& x0, double alpha_bar);

// Mean and variance of N(mean, variance) cut to [−½, ½], in double; entry by entry.
struct CutNormal {
  Tensor mean, variance;
};
CutNormal cut_to_unit(const Tensor& mean, const Tensor& variance);

}  // namespace spnn::field
