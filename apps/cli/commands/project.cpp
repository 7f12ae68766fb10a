#include <memory>

#include "commands.h"
#include "commands/projection_options.h"

namespace spnn::cli {

void add_project(CLI::App& spnn) {
  auto* command = spnn.add_subcommand(
      "project", "back-project an image onto a target: the nearest image with the wanted outputs, in the chosen metric");
  auto job = std::make_shared<app::ProjectJob>();
  add_network(*command, job->network);
  command->add_option("IMAGE", job->image, "image to start from; cropped and resized as the network wants it")
      ->required()
      ->check(CLI::ExistingFile);
  add_target(*command, job->target, "the image's own outputs or the other target");
  command->add_option("--lambda", job->lambda, "how far to go: 1 meets the target, 0.5 goes half way")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command->add_option("--metric", job->metric, "which completion to move in")
      ->check(CLI::IsMember({"plain", "residual"}))
      ->capture_default_str();
  add_pseudo_inverse(*command, job->pseudo_inverse, job->seed);
  command->add_flag("--naive", job->naive, "x + λ(g†(y) − g†(g(x))), for comparison");
  command->add_option("-o,--output", job->output, "image to write (.png, .jpg, .webp)")->required();
  command->add_option("--json", job->json, "also write the report to this file");
  command->callback([job] {
    if (job->target.image.empty() && job->target.values.empty() && job->target.set.empty()) {
      throw CLI::ValidationError("project", "expected a target (--onto, --values or --set), got none");
    }
    print(engine().project(*job, terminal()));
  });
}

}  // namespace spnn::cli
