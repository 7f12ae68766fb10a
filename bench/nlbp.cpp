// Back-projection on reference-256 (or another preset), batch 1: the literal evaluation of the reference against ours, in one process and
// interleaved, so that a busy machine slows both alike. Peak memory is taken in a process of its own for each.
//   bench_nlbp [--rounds N] [--threads N] [--preset NAME]
// The literal evaluation knows the layers of the reference networks only: of other presets the plain metric is the measure.

#include <spnn/networks/presets.h>
#include <spnn/projection/spnn_projector.h>

#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>

#include "support/environment.h"
#include "support/measures.h"
#include "support/options.h"
#include "support/reference_nlbp.h"

namespace spnn {
namespace {

struct Options : bench::Options {
  std::string preset = "reference-256";
  std::string peak_of;   // internal: run this method once and print the peak memory of the process
};

Options parse(int argc, char** argv) {
  Options options;
  bench::parse(argc, argv, options, {{"--preset", &options.preset}, {"--peak-of", &options.peak_of}}, "--rounds, --threads or --preset");
  return options;
}

struct Method {
  std::string name;
  double bar;   // times faster than the first
  std::function<Tensor(const Tensor& x, const Tensor& y)> run;
  std::vector<double> seconds = {};
};

std::vector<Method> methods(const std::shared_ptr<const Spnn>& net) {
  auto plain = std::make_shared<SpnnProjector>(
      net, SpnnProjectorConfig{.pseudo_inverse = PseudoInverse::learned, .metric = Metric::plain});
  auto residual = std::make_shared<SpnnProjector>(
      net, SpnnProjectorConfig{.pseudo_inverse = PseudoInverse::anchored, .metric = Metric::residual});
  const auto in_plain = [plain](const Tensor& x, const Tensor& y) { return plain->nlbp(x, y, 0.5); };
  const auto in_residual = [residual](const Tensor& x, const Tensor& y) { return residual->nlbp(x, y, 0.5); };
  if (!bench::ReferenceNlbp::knows(net->config())) return {{"plain", 0, in_plain}, {"residual", 0, in_residual}};
  auto literal = std::make_shared<bench::ReferenceNlbp>(*net);
  return {{"literal", 1, [literal](const Tensor& x, const Tensor& y) { return (*literal)(x, y, 0.5); }}, {"plain", 6, in_plain}, {"residual", 7, in_residual}};
}

double peak_of(const char* self, const Options& options, const std::string& method) {
  return bench::peak_in_own_process(
      fmt::format("{} --peak-of {} --preset {} --threads {}", self, method, options.preset, options.threads));
}

int run(int argc, char** argv) {
  auto options = parse(argc, argv);
  at::set_num_threads(options.threads);
  const torch::NoGradGuard no_grad;
  auto net = std::make_shared<Spnn>(spnn_preset(options.preset));
  randomise_spnn(*net, Rng(1));
  const auto x = Rng(2).uniform(net->in_shape().batched(1)) * 2 - 1;
  const auto y = Rng(3).randn({1, net->out_shape().channels});
  auto all = methods(net);

  if (!options.peak_of.empty()) {
    for (auto& method : all) {
      if (method.name == options.peak_of) method.run(x, y);
    }
    std::printf("%.0f\n", bench::peak_megabytes());
    return 0;
  }

  std::vector<Tensor> moved;
  for (auto& method : all) moved.push_back(method.run(x, y));   // warms up: U and the target's part are computed once per model and run
  std::printf("largest difference of %s and %s: %.2g\n", all[0].name.c_str(), all[1].name.c_str(), (moved[1] - moved[0]).abs().max().item<double>());
  for (int round = 0; round < options.rounds; ++round) {
    for (auto& method : all) {
      const auto start = std::chrono::steady_clock::now();
      method.run(x, y);
      method.seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
  }
  bool met = true;
  const double first = bench::median(all[0].seconds);
  std::printf("%-9s %10s %8s %6s %10s\n", "method", "seconds", "faster", "bar", "peak MB");
  for (const auto& method : all) {
    const double seconds = bench::median(method.seconds), ratio = first / seconds;
    met = met && ratio >= method.bar;
    std::printf("%-9s %10.3f %7.1fx %5.0fx %10.0f\n", method.name.c_str(), seconds, ratio, method.bar,
                peak_of(argv[0], options, method.name));
  }
  std::printf("%s\n", met ? "every bar is met" : "a bar is missed");
  return met ? 0 : 1;
}

}  // namespace
}  // namespace spnn

int main(int argc, char** argv) { return spnn::bench::run_main(argc, argv, spnn::run); }
