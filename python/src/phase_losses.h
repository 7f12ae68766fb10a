#pragma once

#include <spnn/training/classifier.h>
#include <spnn/training/inverse.h>

namespace spnn {

// The losses of both phases as functions: what the trainers' objectives minimise, for training loops of other kinds.

// The parts of phase I beside the task, with their weights, at the trace of x. Call it inside a MixScope.
Losses inverse_losses(const Spnn& net, const Tensor& x, const Spnn::Trace& trace, const PhaseOneLosses& lambda,
                      std::int64_t inverse_every = 1);

// q(0), level by level.
std::vector<Tensor> q_of_zero(const Spnn& net);

// The weighted parts of phase II at images x: gradients go into the nets r alone. `q_of_zero` serves the part `natural`.
Losses phase_two_losses(const Spnn& net, const Spnn::RSet& r, const PhaseTwoLosses& lambda, const Tensor& x,
                        const std::vector<Tensor>& q_of_zero);

}  // namespace spnn
