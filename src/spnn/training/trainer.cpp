#include <spnn/checkpoint/module_state.h>
#include <spnn/checkpoint/safetensors.h>
#include <spnn/core/errors.h>
#include <spnn/kernels/exact.h>
#include <spnn/training/ema.h>
#include <spnn/training/optimizer.h>
#include <spnn/training/state_files.h>
#include <spnn/training/trainer.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

namespace spnn {
namespace {

using Clock = std::chrono::steady_clock;

class Training {
 public:
  Training(Objective& objective, const TrainJob& job)
      : objective_(objective), job_(job), parameters_(objective.parameters()), optimizer_(parameters_, job.config),
        states_(job.run) {
    if (job.config.ema > 0) ema_.emplace(parameters_, job.config.ema);
    if (job.resume && states_.exist()) load_state();
    if (job.resume && leads()) {   // what a killed process wrote after its last checkpoint, or before its first, is written again
      job.run.truncate("record.csv", step_ + 1);
      job.run.truncate("validation.csv", step_ + 1);
    }
    require_equal_start();
  }

  void run() {
    const auto& c = job_.config;
    auto since = Clock::now();
    std::int64_t counted = step_;
    while (step_ < c.steps) {
      const auto row = one_step();
      ++step_;
      if (step_ % 20 == 0 || step_ == c.steps) {
        const double seconds = std::chrono::duration<double>(Clock::now() - since).count();
        report(row, static_cast<double>((step_ - counted) * c.batch) / seconds);
        since = Clock::now();
        counted = step_;
      }
      if (step_ % c.validate_every == 0 || step_ == c.steps) validate();
      if (step_ % c.checkpoint_every == 0 || step_ == c.steps) save_state();
      if (step_ < c.steps && job_.communicator.any(job_.observer.cancelled())) {
        save_state();
        throw Interrupted(fmt::format("interrupted after step {}; --resume continues", step_));
      }
    }
  }

 private:
  using Row = std::vector<std::pair<std::string, double>>;

  bool leads() const { return job_.communicator.share().rank == 0; }

  Row one_step() {
    const auto& c = job_.config;
    optimizer_.zero_grad();
    const ScopedBfloatProducts products(c.precision == "bfloat16");
    const auto parts = objective_.losses(step_, job_.communicator.share());
    Tensor total;
    Row row;
    for (const auto& [name, value] : parts) {
      row.emplace_back(name, value.item<double>());
      require(std::isfinite(row.back().second), fmt::format("training step {}", step_),
              fmt::format("a finite '{}' loss", name), std::to_string(row.back().second),
              "the last good checkpoint is kept; try a lower rate or stronger clipping");
      total = total.defined() ? total + value : value;
    }
    total.backward();
    average_gradients();
    if (c.clip > 0) clip(row);
    const double rate = learning_rate(c, step_);
    optimizer_.step(rate);
    if (ema_) ema_->update(step_);
    objective_.after_step(step_, job_.communicator);
    row.emplace_back("rate", rate);
    return row;
  }

  // The weights are still good here; one update with such a gradient and they are not.
  void clip(Row& row) {
    row.emplace_back("gradient", optimizer_.clip(job_.config.clip));
    require(std::isfinite(row.back().second), fmt::format("training step {}", step_), "a finite gradient",
            std::to_string(row.back().second), "the last good checkpoint is kept; try a lower rate or another precision");
  }

  // Processes that begin at different places would average what does not belong together, or wait for each other for ever.
  void require_equal_start() {
    const auto share = job_.communicator.share();
    if (share.size == 1) return;
    const auto described = Json{{"train", job_.config}, {"run", job_.run.run()}}.dump();
    const auto all = job_.communicator.gather({static_cast<double>(step_), static_cast<double>(fingerprint({{}, {{"", described}}})),
                                               static_cast<double>(fingerprint({state_of(objective_.module()), {}}))});
    const auto where = fmt::format("process {} of {}", share.rank, share.size);
    const auto& mine = all[static_cast<std::size_t>(share.rank)];
    for (std::size_t other = 0; other < all.size(); ++other) {
      const auto differs = [&](std::size_t what) { return all[other][what] != mine[what]; };
      require(!differs(0), where, fmt::format("to begin after step {:.0f}, as process {} does", all[other][0], other), std::to_string(step_),
              "start all processes with --resume or none, on the same files");
      require(!differs(1), where, fmt::format("the configuration of process {}", other), "another one");
      require(!differs(2), where, fmt::format("the weights of process {}", other), "others");
    }
  }

  void average_gradients() {
    if (job_.communicator.share().size == 1) return;
    std::vector<Tensor> gradients;
    for (auto& value : parameters_) {
      if (!value.grad().defined()) value.mutable_grad() = torch::zeros_like(value);
      gradients.push_back(value.grad());
    }
    job_.communicator.average(gradients);
  }

  void report(Row row, double images_per_second) {
    if (!leads()) return;
    std::string text;
    for (const auto& [name, value] : row) text += fmt::format("{} {:.4g}  ", name, value);
    row.emplace_back("images_per_second", images_per_second);
    job_.run.append("record.csv", step_, row);
    job_.observer.progress(step_, job_.config.steps, text + fmt::format("{:.1f} images/s", images_per_second));
  }

  void validate() {
    if (!leads()) return job_.communicator.barrier();
    std::optional<ScopedWeights> averaged;
    if (ema_) averaged.emplace(parameters_, ema_->averages());
    torch::NoGradGuard no_grad;
    const auto result = objective_.validate();
    std::string text = fmt::format("step {}: validation", step_);
    for (const auto& [name, value] : result.figures) text += fmt::format("  {} {:.5g}", name, value);
    job_.observer.message(text);
    job_.run.append("validation.csv", step_, result.figures);
    write_model("model.safetensors", result);
    if (result.score < best_) {
      best_ = result.score;
      write_model("best.safetensors", result);
    }
    objective_.milestone(step_);
    job_.communicator.barrier();
  }

  void write_model(const std::string& name, const Validation& result) const {
    TensorFile out{state_of(objective_.module()), objective_.metadata()};
    require_finite_weights(out.tensors, step_);
    out.tensors.merge(objective_.companions());
    Json figures = {{"step", step_}};
    for (const auto& [key, value] : result.figures) figures[key] = value;
    out.metadata["validation"] = figures.dump();
    out.metadata["training"] = Json(job_.config).dump();
    write_safetensors(job_.run.file(name), out);
  }

  void save_state() {
    if (!leads()) return;
    TrainingState out{.tensors = {}, .step = step_, .best = best_};
    const auto add = [&](const std::string& prefix, const std::map<std::string, Tensor>& tensors) {
      for (const auto& [name, value] : tensors) out.tensors[prefix + name] = value;
    };
    add("weights/", state_of(objective_.module()));
    add("optimizer/", optimizer_.state());
    add("objective/", objective_.state());
    if (ema_) {
      const auto& averages = ema_->averages();
      for (std::size_t i = 0; i < averages.size(); ++i) out.tensors[fmt::format("ema/{}", i)] = averages[i];
    }
    states_.save(out);
  }

  void load_state() {
    const auto [in, note] = states_.load();
    if (!note.empty()) job_.observer.message(fmt::format("{}; the state before it is taken", note));
    const auto part = [&tensors = in.tensors](const std::string& prefix) {
      std::map<std::string, Tensor> out;
      for (const auto& [name, value] : tensors) {
        if (name.starts_with(prefix)) out[name.substr(prefix.size())] = value;
      }
      return out;
    };
    load_into(objective_.module(), part("weights/"), job_.run.file("state.safetensors").string());
    optimizer_.restore(part("optimizer/"));
    objective_.restore(part("objective/"));
    if (ema_) {
      for (std::size_t i = 0; i < ema_->averages().size(); ++i) {
        ema_->averages()[i].copy_(in.tensors.at(fmt::format("ema/{}", i)));
      }
    }
    step_ = in.step;
    best_ = in.best;
    job_.observer.message(fmt::format("continuing after step {}", step_));
  }

  Objective& objective_;
  const TrainJob& job_;
  std::vector<Tensor> parameters_;
  Optimizer optimizer_;
  std::optional<Ema> ema_;
  StateFiles states_;
  std::int64_t step_ = 0;
  double best_ = std::numeric_limits<double>::infinity();
};

}  // namespace

void train(Objective& objective, const TrainJob& job) { Training(objective, job).run(); }

}  // namespace spnn
