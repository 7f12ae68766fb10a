#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "commands.h"
#include "restoration_options.h"

namespace spnn::cli {

void add_evaluate_identity(CLI::App& evaluate) {
  auto* command = evaluate.add_subcommand("identity", "how well an embedding tells whether two pictures show the same person");
  auto job = std::make_shared<engine::EvaluateIdentityJob>();
  command->add_option("MODEL", job->model, "an identity network")->required()->check(CLI::ExistingFile);
  command->add_option("--data", job->data, "a tar or a folder (see 'spnn data info')")->required();
  command->add_option("--identities", job->identities, "a text file with a line 'picture person' for every picture")
      ->required()->check(CLI::ExistingFile);
  command->add_option("--split", job->split, "which images")->check(CLI::IsMember(splits()))->capture_default_str();
  add_device(*command, job->device);
  add_json(*command, job->json);
  command->callback([job] {
    const auto f = engine().evaluate_identity(*job, terminal());
    std::fputs(fmt::format("{} images of {} people: area under the ROC curve {:.4f}\n"
                           "mean cosine of {} pairs of one person {:.4f}, of {} pairs of two {:.4f}\n",
                           f.images, f.people, f.auc, f.same_pairs, f.same, f.different_pairs, f.different).c_str(), stdout);
  });
}

}  // namespace spnn::cli
