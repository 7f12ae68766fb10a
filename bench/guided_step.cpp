// What one guided sampling step of the shipped 64 px models is made of: the prior's ε, the probe G(x̂0), the move of NLBP, in both
// metrics. NLBP's share of a step is (probe + move) / (prior + probe + move). Run it in the checkout, where models/ is.
//   bench_guided_step [--benchmark_filter=…]   (one thread)

#include <spnn/checkpoint/models.h>
#include <spnn/checkpoint/load_prior.h>
#include <spnn/projection/spnn_projector.h>

#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include "support/environment.h"

namespace spnn {
namespace {

// The networks, and images and targets that are real outputs of them: values of a random start would be out of range.
struct Step {
  std::shared_ptr<const UNetDenoiser> prior = load_prior("models/celebahq64-prior.safetensors");
  std::shared_ptr<const Spnn> net = load_spnn("models/celebahq64-classifier.safetensors").net;
  SpnnProjector plain{net, {.pseudo_inverse = PseudoInverse::learned, .metric = Metric::plain}};
  SpnnProjector residual{net, {.pseudo_inverse = PseudoInverse::learned, .metric = Metric::residual}};
};

const Step& step() {
  static const Step shared;
  return shared;
}

Tensor images(std::int64_t batch, std::uint64_t seed) {
  return Rng(seed).randn(step().prior->shape().batched(batch)).mul(0.4).clamp(-1, 1);
}

void prior(benchmark::State& state) {
  const auto x = images(state.range(0), 1);
  for (auto _ : state) benchmark::DoNotOptimize(step().prior->eps(x, 300));
}

void probe(benchmark::State& state, const SpnnProjector& g) {
  const auto x = images(state.range(0), 1);
  for (auto _ : state) benchmark::DoNotOptimize(g.probe(x));
}

void move(benchmark::State& state, const SpnnProjector& g) {
  const auto at = g.probe(images(state.range(0), 1));
  const auto y = g.probe(images(state.range(0), 2)).y;
  const auto lambda = torch::ones({state.range(0)});
  for (auto _ : state) benchmark::DoNotOptimize(g.nlbp(at, y, lambda));
}

void probe_plain(benchmark::State& state) { probe(state, step().plain); }
void move_plain(benchmark::State& state) { move(state, step().plain); }
void probe_residual(benchmark::State& state) { probe(state, step().residual); }
void move_residual(benchmark::State& state) { move(state, step().residual); }

BENCHMARK(prior)->Arg(1)->Arg(16)->Unit(benchmark::kMillisecond);
BENCHMARK(probe_plain)->Arg(1)->Arg(16)->Unit(benchmark::kMillisecond);
BENCHMARK(move_plain)->Arg(1)->Arg(16)->Unit(benchmark::kMillisecond);
BENCHMARK(probe_residual)->Arg(1)->Arg(16)->Unit(benchmark::kMillisecond);
BENCHMARK(move_residual)->Arg(1)->Arg(16)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace spnn

int main(int argc, char** argv) {
  spnn::bench::use_environment_of_the_command(argv);
  const torch::NoGradGuard no_grad;   // not InferenceMode: weights loaded in it keep no versions, so nothing of them is cached
  at::set_num_threads(1);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
