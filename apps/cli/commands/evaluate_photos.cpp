#include <memory>

#include "commands.h"
#include "restoration_options.h"

namespace spnn::cli {

void add_evaluate_photos(CLI::App& evaluate) {
  auto* command = evaluate.add_subcommand("photos", "edit photos of unseen people, every attribute to the side where it is not; measured on saved files by g, by an "
                                                    "independent judge and by a network that tells people apart");
  auto job = std::make_shared<engine::PhotosExperiment>();
  auto json = std::make_shared<std::string>();
  job->guidance = engine::EditRequest{}.guidance;
  add_experiment(*command, *job, engine::photo_window);
  add_json(*command, *json);
  command->add_option("--photos", job->photos, "of as many people, drawn by the seed")->check(CLI::Range(2, 1000000))->capture_default_str();
  command->add_option("--identity", job->identity, "an identity network ('train identity')")->check(CLI::ExistingFile);
  command->add_option("--attributes", job->attributes, "which ones (default: twelve of CelebA's)")->delimiter(',');
  command->add_flag("--fast", job->fast, "one back-projection, no diffusion");
  command->add_option("--amount", job->amount, "of photos: so many times what photos with the attribute have")->check(CLI::PositiveNumber)->capture_default_str();
  command->add_option("--keep", job->keep, "0 … 1: how much of the photo stays")->check(CLI::Range(0.0, 1.0));
  command->add_option("--shown", job->shown, "people in the report's pictures: the first ones")->check(CLI::PositiveNumber)->capture_default_str();
  command->callback([job, json] {
    job->command = command_line();
    only_helping(job->sampling, {&job->output, &job->report, json.get()});
    finish(engine().evaluate_photos(*job, terminal()), *json);
  });
}

}  // namespace spnn::cli
