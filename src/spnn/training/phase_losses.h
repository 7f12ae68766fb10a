#pragma once

#include <spnn/networks/spnn.h>
#include <spnn/training/objective.h>

namespace spnn {

// The losses of both phases as functions: what the trainers minimise, and any other training loop may.

// λ of phase I. Every squared norm is a mean over the elements.
struct PhaseOneLosses {
  double task = 1;
  double surjectivity = 0;   // ‖y − g(g†(y))‖²: zero but for rounding, and costs two passes
  double stability = 0;      // ‖x − g†(g(x))‖²: costs an inverse pass
  double regression = 0;     // Σ_l ‖z_l − r_l(y_l)‖²: no further pass; its gradient also turns U towards discarding
                             // what y predicts
  double range = 0;          // how far NLBP onto another image's outputs leaves [−1, 1]: costs an inverse pass
};

// λ of phase II. Every squared norm is a mean over the elements.
struct PhaseTwoLosses {
  double natural = 0;        // ‖q(g†(y)) − q(0)‖²: alone it makes r the constant q(0)
  double stability = 0;      // ‖x − g†(g(x))‖²
  double surjectivity = 0;   // ‖y − g(g†(y))‖²: zero but for rounding
  double regression = 0;     // Σ_l ‖z_l − r_l(y_l)‖²: no inverse pass
  double rollout = 0;        // Σ_l ‖z_l − r_l(ŷ_l)‖² at the ŷ_l that g† itself meets: an inverse pass without gradient
  double range = 0;          // how far NLBP onto another image's outputs leaves [−1, 1]
  double min_norm = 0;       // ‖g†(y)‖²
};

// The parts of phase I beside the task, weighted, at the trace of x. Those with an inverse pass look at every so many-th
// image. Belongs inside a MixScope.
Losses inverse_losses(const Spnn& net, const Tensor& x, const Spnn::Trace& trace, const PhaseOneLosses& lambda, std::int64_t inverse_every = 1);

// The parts of phase II at images x, weighted; none where all weights are 0. Gradients go into the nets r, and through the
// inverse pass into whatever else is not frozen. `q_of_zero` serves `natural`.
Losses phase_two_losses(const Spnn& net, const Spnn::RSet& r, const PhaseTwoLosses& lambda, const Tensor& x,
                        const std::vector<Tensor>& q_of_zero);
std::vector<Tensor> q_of_zero(const Spnn& net);   // q(0), level by level

// ‖max(|x'| − 1, 0)‖² of x' = G_r⁻¹([g(x_{i+1}) | q_r(x_i)]), each image of a batch moved onto the outputs of the next in
// the residual metric. A classifier is nowhere asked for more than its labels; guidance asks for such x', and without
// this term the stack is free to stretch them by e^(bL).
Tensor range_loss(const Spnn& net, const Spnn::Trace& trace, const Spnn::RSet& r);

// Every n-th image of a trace.
Spnn::Trace every_nth(const Spnn::Trace& trace, std::int64_t n);

// Σ_l ‖z_l − r_l(y_l)‖² with gradients into whatever made the trace.
Tensor regression_loss(const std::vector<Spnn::Level>& levels, const Spnn::RSet& r);

}  // namespace spnn
