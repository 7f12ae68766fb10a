#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "commands.h"
#include "restoration_options.h"

namespace spnn::cli {
namespace {

std::string percent(const std::optional<double>& share) { return share ? fmt::format("{:9.2f}", 100 * *share) : ""; }

void print(const engine::ClassifierFigures& figures) {
  const bool judged = figures.judge_mean_accuracy.has_value();
  std::string text = fmt::format("{:22}{:>9}{:>9}{}\n", "%", "rate", "g", judged ? "    judge    agree" : "");
  for (const auto& row : figures.rows) {
    text += fmt::format("{:22}{}{}{}{}\n", row.name, percent(row.rate), percent(row.accuracy), percent(row.judge),
                        percent(row.agreement));
  }
  text += fmt::format("{:22}{:9}{}{}{}\n", "mean", "", percent(figures.mean_accuracy), percent(figures.judge_mean_accuracy),
                      percent(figures.agreement));
  text += fmt::format("{} images; always giving the more frequent answer: {:.2f} %\n", figures.images, 100 * figures.majority);
  std::fputs(text.c_str(), stdout);
}

}  // namespace

void add_evaluate_classifier(CLI::App& evaluate) {
  auto* command = evaluate.add_subcommand("classifier", "accuracy of g on labelled images, per attribute and in the mean");
  auto job = std::make_shared<engine::EvaluateClassifierJob>();
  command->add_option("MODEL", job->model, "an SPNN or a judge")->required()->check(CLI::ExistingFile);
  command->add_option("--data", job->data, "a tar, a folder, or 'fashion-mnist' (see 'spnn data info')")->required();
  command->add_option("--split", job->split, "which images")
      ->check(CLI::IsMember(splits()))->capture_default_str();
  command->add_option("--judge", job->judge, "a judge: its accuracy too, and how often the two agree")->check(CLI::ExistingFile);
  add_device(*command, job->device);
  add_json(*command, job->json);
  command->callback([job] { print(engine().evaluate_classifier(*job, terminal())); });
}

}  // namespace spnn::cli
