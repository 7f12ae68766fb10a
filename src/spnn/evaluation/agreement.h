#pragma once

#include <spnn/data/task.h>

#include <vector>

namespace spnn {

// How well outputs y [N, A] say what `target` [N, A] says: the same sign (attributes) or the same largest entry
// (classes), and the mean difference |Δp| of the probabilities (sigmoid or softmax).
struct Agreement {
  double mean = 0;
  double mean_abs_dp = 0;
  std::vector<double> per_output = {};          // per attribute, or over the targets of each class (NaN for none)
  std::vector<double> abs_dp_per_output = {};
};

Agreement agreement_of(Task task, const Tensor& y, const Tensor& target);

// The mean agreement over all pairs of a row of y and a row of target: what images that know nothing of the targets reach.
double chance_agreement(Task task, const Tensor& y, const Tensor& target);

// (A_result − A_prior)/(A_real − A_prior): 0 is the unguided prior, 1 as good as the real image. NaN when the judge
// cannot tell real images from samples.
double transfer_score(double result, double prior, double real);

}  // namespace spnn
