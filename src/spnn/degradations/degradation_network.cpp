#include <spnn/blocks/curve.h>
#include <spnn/blocks/line_map.h>
#include <spnn/blocks/orthogonal_mix.h>
#include <spnn/core/json_fields.h>
#include <spnn/degradations/degradation_network.h>
#include <spnn/degradations/displacement.h>

#include <algorithm>

namespace spnn {
namespace {

SubnetConfig st_net(const DegradationNetworkConfig& c) {
  return {.kind = SubnetConfig::Kind::residual, .hidden = c.hidden, .depth = c.depth, .kernel = c.kernel,
          .activation = SubnetConfig::Activation::silu, .layers = {}};
}

CouplingBlockConfig coupling(const DegradationNetworkConfig& c) {
  CouplingBlockConfig block;
  block.scale_bound = c.scale_bound;
  block.s = st_net(c);
  return block;
}

SurjectionBlockConfig surjection(std::int64_t kept, const DegradationNetworkConfig& c) {
  SurjectionBlockConfig block;
  block.out = kept;
  block.scale_bound = c.scale_bound;
  block.s = st_net(c);
  block.r = {.kind = SubnetConfig::Kind::conv, .hidden = c.r_hidden, .depth = 3, .kernel = 3,
             .activation = SubnetConfig::Activation::silu, .layers = {}};
  return block;
}

// The first curve of a network, and x as it enters it.
struct CurveAndInput {
  Curve* curve = nullptr;
  Tensor x;
};
CurveAndInput first_curve(const Spnn& net, Tensor x) {
  for (const auto& block : net.blocks()) {
    if (auto* curve = dynamic_cast<Curve*>(block.get())) return {curve, x};
    if (dynamic_cast<LineMap*>(block.get()) == nullptr) break;
    x = block->forward(x);
  }
  return {};
}

// [u | l] from [l | u], but for a sign: a quarter turn, which Cayley's map reaches where a plain exchange of halves it does not.
Tensor quarter_turn(std::int64_t n) {
  const auto I = torch::eye(n / 2, torch::kFloat64), O = torch::zeros({n / 2, n / 2}, torch::kFloat64);
  return torch::cat({torch::cat({O, -I}, 1), torch::cat({I, O}, 1)});
}

}  // namespace

void to_json(Json& json, const DegradationNetworkConfig& c) {
  json = {{"hidden", c.hidden}, {"depth", c.depth}, {"kernel", c.kernel}, {"r_hidden", c.r_hidden}, {"scale_bound", c.scale_bound},
          {"pieces", c.pieces}, {"slope_bound", c.slope_bound}, {"warp", c.warp}, {"gain_bound", c.gain_bound}, {"least_gain", c.least_gain}};
}

void from_json(const Json& json, DegradationNetworkConfig& c) {
  JsonFields(json, "network")
      .optional("hidden", c.hidden).optional("depth", c.depth).optional("kernel", c.kernel).optional("r_hidden", c.r_hidden)
      .optional("scale_bound", c.scale_bound).optional("pieces", c.pieces).optional("slope_bound", c.slope_bound)
      .optional("warp", c.warp).optional("gain_bound", c.gain_bound).optional("least_gain", c.least_gain).no_others();
  require(c.hidden > 0 && c.depth > 0 && c.r_hidden > 0, "network", "hidden, depth and r_hidden above 0", json.dump());
  require(c.kernel > 0 && c.kernel % 2 == 1, "network.kernel", "an odd number", std::to_string(c.kernel));
  require(c.scale_bound > 0 && c.slope_bound > 0, "network", "scale_bound and slope_bound above 0", fmt::format("{} and {}", c.scale_bound, c.slope_bound));
  require(c.pieces == 0 || c.pieces >= 2, "network.pieces", "2 or more, or 0 for no curves", std::to_string(c.pieces));
  require(c.gain_bound > 0 && c.least_gain > 0 && c.least_gain <= 1, "network", "a gain_bound above 0 and a least_gain from above 0 to 1",
          fmt::format("{} and {}", c.gain_bound, c.least_gain));
}

SpnnConfig degradation_network(const Reduction& T, const DegradationNetworkConfig& c) {
  const auto n = T.basis().size(0);
  require(n % 2 == 0, "keep " + T.spec(), "cells with an even number of values", std::to_string(n), "use pool:2 or dct");
  SpnnConfig config{.name = "degradation", .input = T.in_shape(),
                    .blocks = {UnshuffleBlockConfig{T.cell(), T.cell()}, coupling(c), coupling(c), surjection(T.kept(), c)}, .r_sets = {}};
  if (c.pieces > 0) {
    const CurveBlockConfig curve{.pieces = c.pieces, .slope_bound = c.slope_bound};
    config.blocks.insert(config.blocks.begin(), curve);
    config.blocks.push_back(curve);
  }
  if (c.warp) {
    for (const auto axis : {LinesBlockConfig::Axis::columns, LinesBlockConfig::Axis::rows}) {
      config.blocks.insert(config.blocks.begin(), LinesBlockConfig{.axis = axis, .gain_bound = c.gain_bound});
    }
  }
  return config;
}

Tensor cayley_weights(const Tensor& U) {
  const auto I = torch::eye(U.size(0), U.options());
  const auto A = torch::linalg_solve(I + U, I - U, /*left=*/false);   // skew
  return (A - A.t()) / 4;
}

void start_at(Spnn& net, const Reduction& T, const Rng& rng) {
  initialise_spnn(net, rng);
  const torch::NoGradGuard no_grad;
  const auto J = quarter_turn(T.basis().size(0));
  const auto mixes = mixes_of(net);
  require(mixes.size() == 3, "start_at", "a network made by degradation_network", fmt::format("one with {} mixes", mixes.size()));
  const Tensor U[] = {T.basis(), J, J.t()};
  for (std::size_t i = 0; i < mixes.size(); ++i) Tensor(mixes[i]->weights()).copy_(cayley_weights(U[i]));
}

void start_warp(Spnn& net, const Tensor& x, const Tensor& v, const DegradationNetworkConfig& config) {
  if (net.blocks().size() < 2) return;
  auto* rows = dynamic_cast<LineMap*>(net.blocks()[0].get());
  auto* columns = dynamic_cast<LineMap*>(net.blocks()[1].get());
  if (rows == nullptr || columns == nullptr) return;
  constexpr std::int64_t few = 256;     // pairs for the displacement, which has few numbers
  constexpr double ridge = 0.02;        // pixels are of order 1: where pictures vary by less, interpolation stands
  const auto count = std::min(few, x.size(0));
  const auto warp = warp_matrices(fit_displacement(x.slice(0, 0, count), v.slice(0, 0, count)));
  const torch::NoGradGuard no_grad;
  rows->set(warp.rows, config.least_gain);
  columns->start_at(rows->forward(x), v, warp.columns, ridge, config.least_gain);
  for (int turn = 0; turn < 2; ++turn) {
    rows->start_at(x, columns->pinv(v), warp.rows, ridge, config.least_gain);
    columns->start_at(rows->forward(x), v, warp.columns, ridge, config.least_gain);
  }
}

void start_curves(Spnn& net, const Reduction& T, const Tensor& x, const Tensor& v) {
  const torch::NoGradGuard no_grad;
  const auto colours = first_curve(net, x);
  auto* outputs = dynamic_cast<Curve*>(net.blocks().back().get());
  if (colours.curve == nullptr || outputs == nullptr) return;
  colours.curve->start_at(colours.x, v);
  outputs->start_at(T.forward(colours.curve->forward(colours.x)), T.forward(v));
}

}  // namespace spnn
