#include <memory>

#include <spnn/engine/paper_profile.h>

#include "commands.h"
#include "restoration_options.h"

namespace spnn::cli {
namespace {

template <class Job>
struct EvaluateRestorationArguments {
  Job job;
  std::string json;
  std::unique_ptr<Profile> profile;
};

template <class Job>
using Arguments = std::shared_ptr<EvaluateRestorationArguments<Job>>;

// Held-out images, all models, sampling and guidance; `defaults` is what differs from the request's own.
template <class Job>
Arguments<Job> add_job(CLI::App& command, const Job& defaults = {}, std::int64_t default_window = engine::reconstruct_window) {
  auto arguments = std::make_shared<EvaluateRestorationArguments<Job>>(EvaluateRestorationArguments<Job>{.job = defaults, .json = {}, .profile = {}});
  add_experiment(command, arguments->job, default_window);
  add_json(command, arguments->json);
  return arguments;
}

// Samples of a prior without guidance.
template <class Job>
Arguments<Job> add_unguided(CLI::App& command, const std::string& sheet) {
  auto arguments = std::make_shared<EvaluateRestorationArguments<Job>>();
  auto& job = arguments->job;
  add_measured(command, job, sheet);
  command.add_option("--models", job.models.family, "family of shipped models: celebahq64 or fashion")->capture_default_str();
  command.add_option("--judge", job.models.judge, "a judge instead of the shipped one")->check(CLI::ExistingFile);
  command.add_option("--samples", job.samples, "how many")->check(CLI::Range(2, 1000000))->capture_default_str();
  add_json(command, arguments->json);
  add_sampling(command, job.sampling);
  return arguments;
}

std::vector<engine::AttributeRequest> parse_set(const std::string& text) {
  std::vector<engine::AttributeRequest> set;
  for (const auto& word : CLI::detail::split(text, ',')) set.push_back(parse_attribute(word));
  return set;
}

}  // namespace

void add_evaluate_reconstruction(CLI::App& evaluate) {
  auto* command = evaluate.add_subcommand("reconstruction", "reconstruct held-out images from their outputs; measured on saved files, "
                                                            "by g and by an independent judge");
  auto a = add_job<engine::ReconstructionExperiment>(*command);
  command->add_option("--images", a->job.images, "how many held-out images")->check(CLI::Range(2, 1000000))->capture_default_str();
  add_size(*command, a->job.models);
  a->profile = std::make_unique<Profile>(*command);
  command->callback([a] {
    a->profile->take_over(a->job.sampling, a->job.guidance);
    a->job.command = command_line();
    only_helping(a->job.sampling, {&a->job.output, &a->job.report, &a->json});
    finish(engine().evaluate_reconstruction(a->job, terminal()), a->json);
  });
}

void add_evaluate_editing(CLI::App& evaluate) {
  auto* command = evaluate.add_subcommand("editing", "edit attributes from noise; measured on saved files by an independent judge");
  engine::EditingExperiment defaults;
  defaults.sampling = engine::EditRequest{}.sampling;
  defaults.guidance = engine::EditRequest{}.guidance;
  auto a = add_job(*command, defaults, engine::edit_window);
  command->add_option("--seeds", a->job.seeds, "images for each edit")->check(CLI::Range(2, 1000000))->capture_default_str();
  command->add_option("--unguided", a->job.unguided, "unguided samples to compare with")->check(CLI::Range(2, 1000000))
      ->capture_default_str();
  command->add_option("--attributes", a->job.attributes, "single attributes to edit (default: twelve of CelebA's)")->delimiter(',');
  auto sets = std::make_shared<std::vector<std::string>>();
  command->add_option("--set", *sets, "several at once: NAME,NAME=0,…; repeat for more sets");
  add_distance(*command, a->job.strength, a->job.margin);
  command->add_option("--strategy", a->job.strategy, "what other attributes do, as of 'edit'")->check(CLI::IsMember(strategies()))->capture_default_str();
  command->add_flag("--each-step", a->job.each_step, "read targets from g of every step's image, as the paper has it, instead of once");
  a->profile = std::make_unique<Profile>(*command);
  command->callback([a, sets] {
    a->profile->take_over(a->job.sampling, a->job.guidance, 1);
    a->profile->take_over("--window-from", a->job.sets_window_from, engine::paper::guidance(2).window_from);
    a->profile->take_over("--strategy", a->job.strategy, engine::paper::strategy);
    a->profile->take_over("--strength", a->job.strength, engine::paper::strength);
    a->profile->take_over("--margin", a->job.margin, engine::paper::margin);
    a->profile->take_over("--each-step", a->job.each_step, engine::paper::each_step);
    for (const auto& text : *sets) a->job.sets.push_back(parse_set(text));
    a->job.command = command_line();
    only_helping(a->job.sampling, {&a->job.output, &a->job.report, &a->json});
    finish(engine().evaluate_editing(a->job, terminal()), a->json);
  });
}

void add_evaluate_prior(CLI::App& evaluate) {
  auto* command = evaluate.add_subcommand("prior", "Fréchet distance of a prior's samples to held-out images, in the judge's features");
  auto a = add_unguided<engine::PriorExperiment>(*command, "a folder for a sheet of 64 samples");
  command->add_option("PRIOR", a->job.models.prior, "model file (default: the shipped one)")->check(CLI::ExistingFile);
  add_lead(*command, a->job.models);
  command->add_option("--identity", a->job.identity, "an identity network: the distance in its features too")->check(CLI::ExistingFile);
  command->callback([a] {
    a->job.command = command_line();
    only_helping(a->job.sampling, {&a->job.output, &a->job.report, &a->json});
    finish(engine().evaluate_prior(a->job, terminal()), a->json);
  });
}

void add_evaluate_cascade(CLI::App& evaluate) {
  auto* command = evaluate.add_subcommand("cascade", "both stages: Fréchet distances of large samples at full size, and how sharp they are");
  auto a = add_unguided<engine::CascadeExperiment>(*command, "a folder for a sheet of 32 samples");
  command->add_option("--prior", a->job.models.prior, "a first stage instead of the shipped one")->check(CLI::ExistingFile);
  add_lead(*command, a->job.models);
  command->add_option("--upscaler", a->job.models.upscaler, "a second stage instead of the shipped one")->check(CLI::ExistingFile);
  command->add_option("--photos", a->job.photos, "held-out images to make small and large again")->check(CLI::Range(2, 1000000))->capture_default_str();
  command->callback([a] {
    a->job.command = command_line();
    only_helping(a->job.sampling, {&a->job.output, &a->job.report, &a->json});
    finish(engine().evaluate_cascade(a->job, terminal()), a->json);
  });
}

void add_ablate(CLI::App& spnn) {
  auto* command = spnn.add_subcommand("ablate", "the same targets with every pseudo-inverse, metric and λ: one table, one figure");
  engine::AblationExperiment defaults;
  defaults.sampling.steps = 50;
  auto a = add_job(*command, defaults);
  command->add_option("--images", a->job.images, "how many held-out images")->check(CLI::Range(2, 1000000))->capture_default_str();
  command->add_option("--pseudo-inverses", a->job.pseudo_inverses, "which ones")->delimiter(',')
      ->check(CLI::IsMember(pseudo_inverses()))->capture_default_str();
  command->add_option("--metrics", a->job.metrics, "which ones")->delimiter(',')
      ->check(CLI::IsMember(metrics()))->capture_default_str();
  command->add_option("--lambdas", a->job.lambdas, "constant λ: strong and gentle")->delimiter(',')->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command->add_option("--shown", a->job.shown, "rows of the figure")->check(CLI::PositiveNumber)->capture_default_str();
  a->profile = std::make_unique<Profile>(*command);
  command->callback([a] {
    a->profile->take_over(a->job.sampling, a->job.guidance);
    a->job.command = command_line();
    only_helping(a->job.sampling, {&a->job.output, &a->job.report, &a->json});
    finish(engine().ablate(a->job, terminal()), a->json);
  });
}

}  // namespace spnn::cli
