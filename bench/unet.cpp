// The U-Net against the same network in plain eager libtorch, in one process and interleaved, so that a busy machine slows
// both alike: the forward pass of the public 256 px network, sampling and training of a 64 px prior. Peak memory is taken
// in a process of its own for each.
//   bench_unet [--rounds N] [--threads N] [--prior FILE] [--part large|sample|train|all] [--isa native|avx2]
// --isa avx2 keeps both contestants (oneDNN, ATen and OpenBLAS; ours) from AVX-512.

#include <spnn/core/errors.h>
#include <spnn/checkpoint/load_prior.h>
#include <spnn/diffusion/cell_patterns.h>
#include <spnn/diffusion/sampler.h>
#include <spnn/layers/init.h>
#include <spnn/training/optimizer.h>

#include <ATen/Parallel.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <functional>

#include "support/eager_unet.h"
#include "support/environment.h"
#include "support/measures.h"
#include "support/options.h"

namespace spnn {
namespace {

struct Options : bench::Options {
  std::string prior = "models/celebahq64-prior.safetensors";
  std::string part = "all";
  std::string isa = "native";
  std::string peak_of;   // internal: run this contestant of the 256 px forward pass once and print the peak memory
};

Options parse(int argc, char** argv) {
  Options options;
  bench::parse(argc, argv, options,
               {{"--prior", &options.prior}, {"--part", &options.part}, {"--isa", &options.isa}, {"--peak-of", &options.peak_of}},
               "--rounds, --threads, --prior, --part or --isa");
  return options;
}

struct Time {
  double wall, cpu;   // cpu: of all threads of this process, which other programs on the machine do not add to
};

double now(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

Time measure(const std::function<void()>& work) {
  const double wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
  work();
  return {now(CLOCK_MONOTONIC) - wall, now(CLOCK_PROCESS_CPUTIME_ID) - cpu};
}

// Two contestants that take turns; medians over the rounds, of times and of the ratio of neighbours.
struct Duel {
  Time eager, ours;
  double ratio, cpu_ratio;
};

Duel duel(int rounds, const std::function<void()>& eager, const std::function<void()>& ours) {
  std::vector<double> a, a_cpu, b, b_cpu, ratios, cpu_ratios;
  for (int round = -1; round < rounds; ++round) {
    const auto e = measure(eager), o = measure(ours);
    if (round < 0) continue;   // warm-up: transformed weights, pages
    a.push_back(e.wall);
    a_cpu.push_back(e.cpu);
    b.push_back(o.wall);
    b_cpu.push_back(o.cpu);
    ratios.push_back(e.wall / o.wall);
    cpu_ratios.push_back(e.cpu / o.cpu);
  }
  return {{bench::median(a), bench::median(a_cpu)}, {bench::median(b), bench::median(b_cpu)}, bench::median(ratios), bench::median(cpu_ratios)};
}

// What the multiply-add units of one core give, by a large matrix product in the same process. Rates count processor time:
// on a busy machine the clock on the wall tells nothing.
double product_gflops() {
  const auto a = torch::rand({1536, 1536}), b = torch::rand({1536, 1536});
  double best = 1e9;
  for (int i = 0; i < 8; ++i) best = std::min(best, measure([&] { torch::mm(a, b); }).cpu);
  return 2e-9 * 1536.0 * 1536.0 * 1536.0 / best;
}

double peak_of(const char* self, const Options& options, const std::string& contestant) {
  return bench::peak_in_own_process(
      fmt::format("{} --peak-of {} --threads {} --isa {}", self, contestant, options.threads, options.isa));
}

double relative_error(const Tensor& found, const Tensor& expected) {
  return ((found - expected).abs().max() / expected.abs().max()).item<double>();
}

void print_rates(const char* unit, const Duel& d, double amount, double gflop, double peak) {
  for (const auto& [name, time] : {std::pair{"eager", d.eager}, std::pair{"ours", d.ours}})
    std::printf("  %-6s %8.3f s  %8.3f %s; processor time %.3f s, %.0f GFLOP/s of direct convolution a core, %.0f %% of %.0f\n",
                name, time.wall, amount / time.wall, unit, time.cpu, gflop / time.cpu, 100 * gflop / time.cpu / peak, peak);
  std::printf("  ratio  %8.2f (of processor time %.2f)\n", d.ratio, d.cpu_ratio);
}

struct Large {
  std::shared_ptr<UNet> net = std::make_shared<UNet>(UNetConfig{.image_size = 256, .ch_mult = {1, 1, 2, 2, 4, 4}});
  Tensor x = Rng(2).randn({1, 3, 256, 256}), t = torch::full({1}, 500, torch::kInt64);
  Large() { initialise(*net, Rng(1)); }
};

bool bench_large(const Options& options, const char* self, double peak) {
  const torch::NoGradGuard no_grad;
  const Large large;
  std::int64_t parameters = 0;
  for (const auto& p : large.net->parameters()) parameters += p.numel();
  bench::EagerUNet eager(*large.net);
  const double error = relative_error(large.net->forward(large.x, large.t), eager.forward(large.x, large.t));
  const auto d = duel(options.rounds, [&] { eager.forward(large.x, large.t); }, [&] { large.net->forward(large.x, large.t); });
  std::printf("forward of the 256 px U-Net, %.1f M parameters, batch 1\n", static_cast<double>(parameters) / 1e6);
  print_rates("images/s", d, 1, eager.flop() * 1e-9, peak);
  std::printf("  relative error %.1e (bar 1e-4), ratio %.2f (bar 2.5)\n", error, d.ratio);
  std::printf("  peak memory: eager %.0f MB, ours %.0f MB\n", peak_of(self, options, "eager"),
              peak_of(self, options, "ours"));
  return error < 1e-4 && d.ratio >= 2.5;
}

// The shipped prior through either network.
class EagerDenoiser final : public Denoiser {
 public:
  EagerDenoiser(const UNetDenoiser& of) : of_(of), net_(of.net()) {}
  Tensor eps(const Tensor& x_t, std::int64_t t) const override {
    const double a = schedule().alpha_bar(t);
    const auto eps = std::sqrt(a) * net_.forward(x_t, torch::full({1}, t)) + std::sqrt(1 - a) * x_t;   // the output is v
    return with_pattern_known(eps, x_t, a, of_.net().config().stem);
  }
  Shape shape() const override { return of_.shape(); }
  const Schedule& schedule() const override { return of_.schedule(); }
  double flop() const { return net_.flop(); }

 private:
  const UNetDenoiser& of_;
  mutable bench::EagerUNet net_;
};

void bench_sampling(const Options& options, double peak) {
  const torch::NoGradGuard no_grad;
  constexpr std::int64_t batch = 16, steps = 10, usual_steps = 100;
  const auto prior = load_prior(options.prior);
  const EagerDenoiser eager(*prior);
  Observer silent;
  const SamplerConfig config{.steps = steps};
  const auto run = [&](const Denoiser& denoiser) { return sample(denoiser, config, ImageSeeds(1, batch), silent); };
  const double error = relative_error(run(*prior), run(eager));
  const auto d = duel(options.rounds, [&] { run(eager); }, [&] { run(*prior); });
  std::printf("sampling from %s, %lld images at once, %lld DDPM steps; samples/s for %lld steps\n", options.prior.c_str(),
              static_cast<long long>(batch), static_cast<long long>(steps), static_cast<long long>(usual_steps));
  print_rates("samples/s", d, static_cast<double>(batch * steps) / usual_steps, eager.flop() * steps * 1e-9, peak);
  std::printf("  relative error of the samples %.1e\n", error);
}

void bench_training(const Options& options, double peak) {
  constexpr std::int64_t batch = 32;
  auto net = std::make_shared<UNet>(load_prior(options.prior)->net().config());
  initialise(*net, Rng(1));
  const auto shape = Shape{net->config().in_channels, net->config().image_size, net->config().image_size};
  const auto x = Rng(2).randn(shape.batched(batch)), noise = Rng(3).randn(shape.batched(batch));
  const auto t = torch::arange(batch) * (1000 / batch);
  bench::EagerUNet eager(*net);
  Optimizer optimizer(net->parameters(), TrainConfig{});
  const auto step = [&](const std::function<Tensor()>& forward) {
    optimizer.zero_grad();
    torch::mse_loss(forward(), noise).backward();
    optimizer.clip(1.0);
    optimizer.step(0);   // the weights stay: both contestants see the same ones
  };
  const auto d = duel(options.rounds, [&] { step([&] { return eager.forward(x, t); }); },
                      [&] { step([&] { return net->forward(x, t); }); });
  std::printf("training step of the same network, batch %lld: forward, backward, clipping and Adam\n", static_cast<long long>(batch));
  print_rates("images/s", d, batch, 3 * eager.flop() * 1e-9, peak);
}

int run(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);   // a line at a time, also into a file
  const auto options = parse(argc, argv);
  at::set_num_threads(options.threads);
  if (options.isa == "avx2") hwy::DisableTargets(HWY_AVX3 | HWY_AVX3_DL);
  if (!options.peak_of.empty()) {
    const torch::NoGradGuard no_grad;
    const Large large;
    if (options.peak_of == "eager") bench::EagerUNet(*large.net).forward(large.x, large.t);
    else large.net->forward(large.x, large.t);
    std::printf("%.0f\n", bench::peak_megabytes());
    return 0;
  }
  const double peak = product_gflops();
  std::printf("%d threads, %s, median of %d rounds; a matrix product of 1536 reaches %.0f GFLOP/s a core here\n", options.threads,
              options.isa.c_str(), options.rounds, peak);
  const auto wanted = [&](const char* part) { return options.part == "all" || options.part == part; };
  const bool met = !wanted("large") || bench_large(options, argv[0], peak);
  if (wanted("sample")) bench_sampling(options, peak);
  if (wanted("train")) bench_training(options, peak);
  std::printf("%s\n", met ? "every bar is met" : "a bar is missed");
  return met ? 0 : 1;
}

}  // namespace
}  // namespace spnn

int main(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::string(argv[i]) != "--isa" || std::string(argv[i + 1]) != "avx2") continue;
    setenv("ONEDNN_MAX_CPU_ISA", "AVX2", 1);
    setenv("ATEN_CPU_CAPABILITY", "avx2", 1);
    setenv("OPENBLAS_CORETYPE", "Haswell", 1);
  }
  return spnn::bench::run_main(argc, argv, spnn::run);
}
