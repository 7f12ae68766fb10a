#include <memory>

#include "commands.h"

namespace spnn::cli {
namespace {

std::shared_ptr<app::TrainJob> add_job(CLI::App& command) {
  auto job = std::make_shared<app::TrainJob>();
  command.add_option("CONFIG", job->config, "configuration file, TOML or JSON (see configs/)")
      ->required()->check(CLI::ExistingFile);
  command.add_option("--data", job->data, "a tar, a folder, or 'fashion-mnist' (see 'spnn data info')")->required();
  command.add_option("--run", job->run, "the run directory: state, record and models go there")->required();
  command.add_flag("--resume", job->resume, "continue the run exactly where it was killed or interrupted");
  command.add_option("--steps", job->steps, "steps to train, instead of the configuration's; may change on a resume")
      ->check(CLI::PositiveNumber);
  return job;
}

}  // namespace

void add_train(CLI::App& spnn) {
  auto* train = spnn.add_subcommand("train", "train a network; every trainer can be killed and resumed exactly");
  train->require_subcommand(1);

  auto* prior = train->add_subcommand("prior", "a DDPM prior");
  prior->callback([job = add_job(*prior)] { engine().train_prior(*job, terminal()); });

  auto* classifier = train->add_subcommand("classifier", "phase I: an SPNN on the labels of a data set");
  classifier->callback([job = add_job(*classifier)] { engine().train_classifier(*job, terminal()); });

  auto* judge = train->add_subcommand("judge", "a plain CNN on the labels, for evaluation only");
  judge->callback([job = add_job(*judge)] { engine().train_judge(*job, terminal()); });
}

}  // namespace spnn::cli
