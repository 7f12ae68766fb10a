#include <memory>

#include "commands.h"
#include "commands/projection_options.h"

namespace spnn::cli {

void add_pinv(CLI::App& spnn) {
  auto* command = spnn.add_subcommand("pinv", "the image g†(y) of outputs y");
  auto job = std::make_shared<app::PinvJob>();
  add_network(*command, job->network);
  add_target(*command, job->target, "zeros or the other target");
  add_pseudo_inverse(*command, job->pseudo_inverse, job->seed);
  command->add_option("-o,--output", job->output, "image to write (.png, .jpg, .webp)")->required();
  command->add_option("--json", job->json, "also write the report to this file");
  command->callback([job] { print(engine().pinv(*job, terminal())); });
}

}  // namespace spnn::cli
