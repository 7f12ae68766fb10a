#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <memory>

#include "commands.h"
#include "restoration_options.h"

namespace spnn::cli {
namespace {

struct InversesArguments {
  engine::PreimagesJob job;
  AttributeWords words;
};

}  // namespace

void add_preimages(CLI::App& spnn) {
  auto* command = spnn.add_subcommand("preimages", "many images with the same outputs, drawn from the stochastic inverse");
  auto a = std::make_shared<InversesArguments>();
  add_attributes(*command, a->words);
  add_distance(*command, a->job.strength, a->job.margin);
  command->add_option("-n,--count", a->job.count, "how many")->check(CLI::Range(2, 100000))->capture_default_str();
  command->add_option("--seed", a->job.seed, "image i of a seed is the same in every batch")->capture_default_str();
  command->add_option("--temperature", a->job.temperature, "scales the deviation; 0 is the pseudo-inverse itself")
      ->check(CLI::Range(0.0, 10.0))->capture_default_str();
  command->add_option("--beside", a->job.beside, "also measure the images of this folder (of 'spnn edit' with the same attributes, say)")
      ->check(CLI::ExistingDirectory);
  command->add_option("-o,--output", a->job.output, "the contact sheet to write, PNG")->capture_default_str();
  command->add_option("--json", a->job.json, "also write the report to this file");
  add_models(*command, a->job.models, {.judge = true});
  add_device(*command, a->job.device);
  command->callback([a] {
    a->job.attributes = a->words.requests();
    if (a->job.attributes.empty()) throw CLI::RequiredError("--set or --unset");
    const auto report = engine().preimages(a->job, terminal());
    fmt::print("{:>7}{:>10}{:>10}{:>8}{:>8}{:>11}{:>11}\n", "images", "distance", "features", "g", "judge", "judge, all", "|g(x)-y|");
    for (const auto& row : report.rows) {
      fmt::print("{:7}{:10.4f}{:10.3f}{:8.3f}{:8.3f}{:11.3f}{:>11}  {}\n", row.images, row.distance, row.feature_distance, row.by_g,
                 row.by_judge, row.judge_all, std::isnan(row.consistency) ? "" : fmt::format("{:.2g}", row.consistency), row.name);
    }
  });
}

void add_inverses(CLI::App& spnn) {
  auto* command = spnn.add_subcommand("inverses", "the minimal-norm inverse of Gofer and Gilboa beside the natural one, on small maps");
  auto job = std::make_shared<engine::InversesJob>();
  command->add_option("-o,--output", job->output, "a figure to write, SVG");
  command->add_option("--seed", job->seed, "of the maps and targets")->capture_default_str();
  command->add_option("--json", job->json, "also write the table to this file");
  add_cpu_only(*command, "these small maps are computed");
  command->callback([job] {
    fmt::print("{:36}{:>10}{:>10}{:>11}{:>20}\n", "map", "‖minimal‖", "‖natural‖", "distance", "|g(x)-y| of both");
    for (const auto& r : engine().compare_inverses(*job, terminal()).rows) {
      fmt::print("{:36}{:10.5f}{:10.5f}{:11.2e}{:11.1e}{:9.1e}\n", r.map, r.minimal, r.natural, r.distance, r.residual_minimal,
                 r.residual_natural);
    }
  });
}

}  // namespace spnn::cli
