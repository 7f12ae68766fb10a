#include <spnn/checkpoint/module_state.h>
#include <spnn/checkpoint/safetensors.h>
#include <spnn/core/errors.h>
#include <spnn/kernels/exact.h>
#include <spnn/training/ema.h>
#include <spnn/training/optimizer.h>
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
      : objective_(objective), job_(job), parameters_(objective.parameters()), optimizer_(parameters_, job.config) {
    if (job.config.ema > 0) ema_.emplace(parameters_, job.config.ema);
    if (job.resume && job.run.has_state()) load_state();
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
      if (job_.observer.cancelled() && step_ < c.steps) {
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
    if (c.clip > 0) row.emplace_back("gradient", optimizer_.clip(c.clip));
    const double rate = learning_rate(c, step_);
    optimizer_.step(rate);
    if (ema_) ema_->update(step_);
    objective_.after_step(step_, job_.communicator);
    row.emplace_back("rate", rate);
    return row;
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
    out.tensors.merge(objective_.companions());
    Json figures = {{"step", step_}};
    for (const auto& [key, value] : result.figures) figures[key] = value;
    out.metadata["validation"] = figures.dump();
    out.metadata["training"] = Json(job_.config).dump();
    write_safetensors(job_.run.file(name), out);
  }

  void save_state() const {
    if (!leads()) return;
    TensorFile out;
    const auto add = [&](const std::string& prefix, const std::map<std::string, Tensor>& tensors) {
      for (const auto& [name, value] : tensors) out.tensors[prefix + name] = value;
    };
    add("weights/", state_of(objective_.module()));
    add("optimizer/", optimizer_.state());
    add("objective/", objective_.state());
    if (ema_) {
      auto& averages = const_cast<Ema&>(*ema_).averages();
      for (std::size_t i = 0; i < averages.size(); ++i) out.tensors[fmt::format("ema/{}", i)] = averages[i];
    }
    out.metadata = {{"kind", "training-state"}, {"step", std::to_string(step_)}, {"best", fmt::format("{:a}", best_)}};
    write_safetensors(job_.run.file("state.safetensors"), out);
  }

  void load_state() {
    const auto in = read_safetensors(job_.run.file("state.safetensors"));
    const auto part = [&](const std::string& prefix) {
      std::map<std::string, Tensor> out;
      for (const auto& [name, value] : in.tensors) {
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
    step_ = std::stoll(in.metadata.at("step"));
    best_ = std::strtod(in.metadata.at("best").c_str(), nullptr);
    if (leads()) {
      job_.run.truncate("record.csv", step_ + 1);
      job_.run.truncate("validation.csv", step_ + 1);
    }
    job_.observer.message(fmt::format("continuing after step {}", step_));
  }

  Objective& objective_;
  const TrainJob& job_;
  std::vector<Tensor> parameters_;
  Optimizer optimizer_;
  std::optional<Ema> ema_;
  std::int64_t step_ = 0;
  double best_ = std::numeric_limits<double>::infinity();
};

}  // namespace

void train(Objective& objective, const TrainJob& job) { Training(objective, job).run(); }

}  // namespace spnn
