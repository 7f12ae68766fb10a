// Training steps of reference-64 (batch 16) against the literal evaluation of the reference's losses: every forward pass
// it makes, every Cayley system solved again in each of them. The variants take turns, so that a busy machine slows all
// alike; medians are compared, of time and of processor time.  Usage: bench_training [rounds] [preset] [batch] [threads] [phase]

#include <spnn/blocks/orthogonal_mix.h>
#include <spnn/networks/presets.h>
#include <spnn/training/classifier.h>
#include <spnn/training/inverse.h>
#include <spnn/training/optimizer.h>

#include <ATen/Parallel.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "support/environment.h"
#include "support/measures.h"
#include "support/reference_nlbp.h"

namespace {

using namespace spnn;

Dataset random_images(const Shape& shape, std::int64_t count, std::int64_t labels) {
  Dataset set;
  set.name = "random";
  set.images = (Rng(1).uniform(shape.batched(count)) * 255).to(torch::kUInt8);
  set.labels = Rng(2).uniform({count, labels}).gt(0.5).to(torch::kFloat32);
  for (std::int64_t a = 0; a < labels; ++a) set.attributes.push_back(std::to_string(a));
  return set;
}

struct Variant {
  std::string name;
  std::function<Tensor()> loss;
  std::shared_ptr<Spnn> net;
  std::vector<Tensor> parameters;
  std::vector<double> seconds = {}, cpu_seconds = {};   // cpu: of this process, whatever else the machine does
};

double now(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void step(Variant& variant, Optimizer& optimizer) {
  const double began = now(CLOCK_MONOTONIC), cpu_began = now(CLOCK_PROCESS_CPUTIME_ID);
  optimizer.zero_grad();
  variant.loss().backward();
  optimizer.clip(1.0);
  optimizer.step(1e-4);
  variant.seconds.push_back(now(CLOCK_MONOTONIC) - began);
  variant.cpu_seconds.push_back(now(CLOCK_PROCESS_CPUTIME_ID) - cpu_began);
}

Tensor sum(const Losses& parts) {
  Tensor total;
  for (const auto& [name, value] : parts) total = total.defined() ? total + value : value;
  return total;
}

// Each loss evaluated by itself, as the reference does: three forward and two inverse passes.
Tensor literal_phase_one(const bench::ReferenceNlbp& net, const Batch& batch) {
  const auto& x = batch.images;
  const auto y = net.forward(x).y;
  const auto surjective = net.forward(net.inverse(y, nullptr)).y;
  const auto stable = net.inverse(net.forward(x).y, nullptr);
  return task_loss(Task::attributes, y.flatten(1), batch.labels) + 40 * torch::mse_loss(surjective, y) +
         40 * torch::mse_loss(stable, x);
}

// Five forward and three inverse passes; only r takes gradients.
Tensor literal_phase_two(const bench::ReferenceNlbp& net, const Batch& batch) {
  const auto& x = batch.images;
  const auto y = net.forward(x).y;
  const auto q = net.forward(net.inverse(y, nullptr)).z, q0 = net.forward(torch::zeros_like(x)).z;
  Tensor natural;
  for (std::size_t l = 0; l < q.size(); ++l) {
    const auto part = torch::mse_loss(q[l], q0[l]);
    natural = natural.defined() ? natural + part : part;
  }
  const auto stable = net.inverse(net.forward(x).y, nullptr);
  return 0.3 * natural + torch::mse_loss(stable, x) + torch::mse_loss(net.forward(net.inverse(y, nullptr)).y, y);
}

class Bench {
 public:
  Bench(const std::string& preset, std::int64_t batch)
      : config_(spnn_preset(preset)), batch_(batch), set_(random_images(config_.input, 4 * batch, net_for()->out_shape().size())) {}

  void run(const std::string& phase, std::vector<Variant> variants, int rounds) {
    std::vector<std::unique_ptr<Optimizer>> optimizers;
    for (auto& variant : variants) optimizers.push_back(std::make_unique<Optimizer>(variant.parameters, TrainConfig{}));
    for (int round = -1; round < rounds; ++round) {
      for (std::size_t i = 0; i < variants.size(); ++i) step(variants[i], *optimizers[i]);
      if (round < 0) {
        for (auto& variant : variants) variant.seconds.clear(), variant.cpu_seconds.clear();   // warm-up
      }
    }
    const double literal = bench::median(variants.front().seconds), literal_cpu = bench::median(variants.front().cpu_seconds);
    for (const auto& variant : variants) {
      const double seconds = bench::median(variant.seconds), cpu = bench::median(variant.cpu_seconds);
      std::printf("%-9s %-8s %8.3f s a step %7.2f images/s %6.2f times the literal speed (by processor time %6.2f s, %.2f)\n",
                  phase.c_str(), variant.name.c_str(), seconds, static_cast<double>(batch_) / seconds, literal / seconds, cpu,
                  literal_cpu / cpu);
    }
    std::fflush(stdout);
  }

  std::vector<Variant> phase_one() {
    auto net = net_for();
    auto literal = std::make_shared<bench::ReferenceNlbp>(*net, /*gradients=*/true);
    std::vector<Variant> out{{"literal", [this, literal] { return literal_phase_one(*literal, batch()); }, net, net->parameters()}};
    for (const std::string recipe : {"paper", "fast"}) {
      const Json file = {{"recipe", recipe}, {"network", to_json(config_)}, {"train", {{"batch", batch_}}}};
      auto objective = std::make_shared<ClassifierObjective>(file.get<ClassifierRecipe>(), set_, set_);
      randomise(dynamic_cast<Spnn&>(objective->module()));
      out.push_back({recipe, [this, objective] { return sum(objective->losses(step_++, {})); }, nullptr, objective->parameters()});
    }
    return out;
  }

  std::vector<Variant> phase_two() {
    auto frozen = net_for();
    for (auto& value : frozen->g_parameters()) value.requires_grad_(false);
    auto literal = std::make_shared<bench::ReferenceNlbp>(*frozen, /*gradients=*/true);
    std::vector<Variant> out{{"literal", [this, literal] { return literal_phase_two(*literal, batch()); }, frozen, frozen->r_parameters()}};
    for (const std::string recipe : {"paper", "fast"}) {
      const Json file = {{"recipe", recipe}, {"train", {{"batch", batch_}}}};
      auto net = net_for();
      auto objective = std::make_shared<InverseObjective>(file.get<InverseRecipe>(), InverseObjective::Model{.net = net}, set_, set_);
      out.push_back({recipe, [this, objective] { return sum(objective->losses(step_++, {})); }, net, objective->parameters()});
    }
    return out;
  }

 private:
  void randomise(Spnn& net) const { randomise_spnn(net, Rng(5)); }
  std::shared_ptr<Spnn> net_for() const {
    auto net = std::make_shared<Spnn>(config_);
    randomise(*net);
    return net;
  }
  Batch batch() { return make_batch(set_, BatchOrder(set_.size(), batch_, 1).indices(step_++)); }

  SpnnConfig config_;
  std::int64_t batch_;
  Dataset set_;
  std::int64_t step_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  spnn::bench::use_environment_of_the_command(argv);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);   // a line at a time, also into a file
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 3;
  const std::string preset = argc > 2 ? argv[2] : "reference-64";
  const std::int64_t batch = argc > 3 ? std::atoll(argv[3]) : 16;
  at::set_num_threads(argc > 4 ? std::atoi(argv[4]) : 2);
  Bench bench(preset, batch);
  std::printf("%s, batch %lld, median of %d rounds, %d threads\n", preset.c_str(), static_cast<long long>(batch), rounds,
              at::get_num_threads());
  const std::string phase = argc > 5 ? argv[5] : "both";
  if (phase != "2") bench.run("phase I", bench.phase_one(), rounds);
  if (phase != "1") bench.run("phase II", bench.phase_two(), rounds);
}
