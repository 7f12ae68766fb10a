#include "restoration_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

#include <spnn/diffusion/sampler_kind.h>
#include <spnn/engine/paper_profile.h>
#include <spnn/restoration/lambda_schedule.h>

namespace spnn::cli {
namespace {

// λ as the paper has it; the message names what was given.
const CLI::Validator unit_interval(
    [](std::string& text) -> std::string {
      double value = 0;
      if (!CLI::detail::lexical_cast(text, value) || value < 0 || value > 1) {
        return fmt::format("expected a number in [0, 1], got '{}'", text);
      }
      return {};
    },
    "[0, 1]");

// RANK and WORLD_SIZE, as torchrun, SLURM wrappers and Kubernetes set them; 0 of 1 without them.
std::int64_t number_in_environment(const char* name, std::int64_t otherwise) {
  const char* text = std::getenv(name);
  std::int64_t number = otherwise;
  if (text && (!CLI::detail::lexical_cast(std::string(text), number) || number < 0)) {
    throw CLI::ValidationError(name, fmt::format("expected a whole number, got '{}'", text));
  }
  return number;
}

void add_kept(CLI::App& command, engine::KeptWork& kept) {
  const auto keep = [&kept](const std::string& folder) {
    kept = {.folder = folder, .work = command_line(), .rank = number_in_environment("RANK", 0), .size = number_in_environment("WORLD_SIZE", 1)};
  };
  auto* option = command.add_option_function<std::string>("--kept", keep, "a folder in which finished batches are kept: the same command again goes on where it was, "
                                                          "and several processes with RANK and WORLD_SIZE divide the work (docs/several_processes.md)");
  option->group("Sampling");
  if (const char* size = std::getenv("WORLD_SIZE"); size && std::string_view(size) != "1") option->required();
}

}  // namespace

void add_models(CLI::App& command, engine::ModelChoice& models, ModelRoles roles) {
  const auto group = "Models";
  command.add_option("--models", models.family, "family of shipped models: celebahq64 or fashion")
      ->capture_default_str()->group(group);
  if (roles.classifier) {
    command.add_option("--classifier", models.classifier, "a pseudo-invertible network instead of the shipped one")
        ->check(CLI::ExistingFile)->group(group);
  }
  command.add_option("--prior", models.prior, "a diffusion prior instead of the shipped one")
      ->check(CLI::ExistingFile)->group(group);
  if (roles.classifier) add_lead(command, models);
  if (roles.judge) {
    command.add_option("--judge", models.judge, "a judge instead of the shipped one")->check(CLI::ExistingFile)->group(group);
  }
}

void add_size(CLI::App& command, engine::ModelChoice& models) {
  command.add_option("--size", models.size, "pixels of a side: the prior's own, or 256 with a second stage")->check(CLI::PositiveNumber)->group("Models");
  command.add_option("--upscaler", models.upscaler, "a second stage instead of the shipped one")->check(CLI::ExistingFile)->group("Models");
}

void add_lead(CLI::App& command, engine::ModelChoice& models) {
  command.add_option("--lead", models.lead, "how far images are led away from the weak prior in the prior's file (default: as the file says, and not where a network guides)")
      ->check(CLI::Range(0.0, 10.0))->group("Models");
}

void add_device(CLI::App& command, std::string& device) {
  command.add_option("--device", device, "device to compute on (cpu, cuda, …)")->capture_default_str();
}

void add_cpu_only(CLI::App& command, const std::string& what) {
  const CLI::Validator cpu([what](std::string& text) { return text == "cpu" ? std::string() : fmt::format("expected cpu, because {} on the CPU only, got '{}'", what, text); }, "");
  command.add_option_function<std::string>("--device", [](const std::string&) {}, fmt::format("device to compute on; {} on the CPU only", what))->check(cpu)->default_str("cpu");
}

void add_fit(CLI::App& command, bool& fit) {
  command.add_flag("--fit,!--no-fit", fit, "cut the middle square out of photos of another size and resize it (the default); --no-fit refuses them");
}

void add_sampling(CLI::App& command, engine::SamplingOptions& sampling) {
  const auto group = "Sampling";
  command.add_option("--steps", sampling.steps, "steps of the respaced chain")->check(CLI::Range(1, 1000))
      ->capture_default_str()->group(group);
  command.add_option("--sampler", sampling.sampler, "ddpm, ddim, dpm (second order, for few steps), or reference (the public SPNN code's variance)")
      ->check(CLI::IsMember(words_of(kSamplers)))->capture_default_str()->group(group);
  command.add_option("--spacing", sampling.spacing, "where the steps lie: " + names_of(kSpacings))
      ->check(CLI::IsMember(words_of(kSpacings)))->capture_default_str()->group(group);
  command.add_option("--detail-steps", sampling.detail_steps, "steps of the second stage, where --size asks for it")->check(CLI::Range(1, 1000))
      ->capture_default_str()->group(group);
  command.add_option("--eta", sampling.eta, "noise of DDIM: 0 is deterministic, 1 is DDPM's")->check(CLI::Range(0.0, 1.0))
      ->capture_default_str()->group(group);
  command.add_option("--travel-length", sampling.travel_length, "time travel: steps back a jump")
      ->check(CLI::PositiveNumber)->capture_default_str()->group(group);
  command.add_option("--travel-repeat", sampling.travel_repeat, "time travel: how often each stretch is walked")
      ->check(CLI::PositiveNumber)->capture_default_str()->group(group);
  command.add_option("--batch", sampling.batch, "images computed together")->check(CLI::PositiveNumber)
      ->capture_default_str()->group(group);
  add_kept(command, sampling.kept);
}

void add_guidance(CLI::App& command, engine::GuidanceOptions& guidance, std::int64_t default_window) {
  const auto group = "Guidance";
  command.add_option("--pseudo-inverse", guidance.pseudo_inverse, "which z completes y: " + names_of(kPseudoInverses))
      ->check(CLI::IsMember(pseudo_inverses()))->capture_default_str()->group(group);
  command.add_option("--metric", guidance.metric,
                     "completion that back-projection moves in: plain (the paper's), residual, or naive (none)")
      ->check(CLI::IsMember(metrics()))->capture_default_str()->group(group);
  command.add_option("--schedule", guidance.schedule, "of λ: constant, two-level (--lambda, then --late) or adaptive (α·tanh(γ·|Δ|))")
      ->check(CLI::IsMember(words_of(kLambdaSchedules)))->capture_default_str()->group(group);
  command.add_option("--lambda", guidance.lambda, "constant λ, or the early one of two levels")->check(unit_interval)
      ->capture_default_str()->group(group);
  command.add_option("--late", guidance.late, "the late level of λ")->check(unit_interval)->capture_default_str()->group(group);
  command.add_option("--late-below", guidance.late_below, "where the late level begins")->check(CLI::Range(0, 1000))
      ->capture_default_str()->group(group);
  command.add_option("--alpha", guidance.alpha, "of the adaptive λ")->check(unit_interval)->capture_default_str()->group(group);
  command.add_option("--gamma", guidance.gamma, "of the adaptive λ")->check(CLI::NonNegativeNumber)->capture_default_str()->group(group);
  command.add_option("--window-from", guidance.window_from, "guide only below this t")->check(CLI::Range(0, 1000))
      ->default_str(fmt::format("as the classifier's file says, else {}", default_window))->group(group);
  command.add_option("--window-to", guidance.window_to, "guide only from this t up")->check(CLI::Range(0, 1000))
      ->capture_default_str()->group(group);
  command.add_option("--guide-every", guidance.every, "guide at every so many-th step of the window, counted back from the last")
      ->check(CLI::Range(1, 1000))->capture_default_str()->group(group);
  command.add_option("--final-projections", guidance.final_projections,
                     "strict projections on the 8-bit image at the end, at most; 0 saves what was sampled")
      ->check(CLI::Range(0, 1000))->capture_default_str()->group(group);
}

void add_held_out(CLI::App& command, engine::HeldOutChoice& choice) {
  const auto group = "Held-out images";
  command.add_option("--split", choice.split, "val, test, or val-a and val-b: halves of the validation people (to choose by, to report on)")
      ->check(CLI::IsMember({"val", "val-a", "val-b", "test"}))->capture_default_str()->group(group);
  command.add_option("--identities", choice.identities, "who is on each picture: a text file, for val-a and val-b")->check(CLI::ExistingFile)->group(group);
  command.add_option("--choice-seed", choice.seed, "the first images of this random order are taken")->capture_default_str()->group(group);
  command.add_flag("--one-each", choice.one_each, "every person once before anybody comes twice, by --identities")->group(group);
}

void add_json(CLI::App& command, std::string& file) { command.add_option("--json", file, "write all figures to this file"); }

void add_measured(CLI::App& command, engine::ExperimentJob& job, const std::string& output) {
  add_held_out(command, job.held_out);
  command.add_option("--data", job.data, "data set: a tar, a folder, or 'fashion-mnist' (see 'spnn data info')")->required();
  command.add_option("--seed", job.seed, "image i is made from seed + i, whatever the batch")->capture_default_str();
  command.add_option("-o,--output", job.output, output);
  command.add_option("--report", job.report, "add to DIR/report.html, with the tables as CSV beside it");
  add_device(command, job.device);
}

void add_experiment(CLI::App& command, engine::ExperimentJob& job, std::int64_t default_window) {
  add_measured(command, job);
  add_models(command, job.models, {.judge = true});
  add_sampling(command, job.sampling);
  add_guidance(command, job.guidance, default_window);
}

std::vector<engine::AttributeRequest> AttributeWords::requests() const {
  std::vector<engine::AttributeRequest> all;
  for (const auto& text : set) all.push_back(parse_attribute(text));
  for (const auto& text : unset) all.push_back(parse_attribute(text, false));
  std::map<std::string, bool> wanted;
  for (auto& request : all) {
    if (request.strategy == "auto") request.strategy = strategy;
    const auto [other, first] = wanted.emplace(request.name, request.present);
    if (first) continue;
    throw CLI::ValidationError(request.name, other->second == request.present ? "expected each attribute once, got it twice"
                                                                             : "expected it set or unset, got both");
  }
  return all;
}

void add_attributes(CLI::App& command, AttributeWords& words) {
  command.add_option("--set", words.set, "an attribute to have: NAME, NAME=1 or NAME=0, with an optional strategy NAME=1:sparse; repeat for several")
      ->group("Attributes");
  command.add_option("--unset", words.unset, "an attribute to be without; repeat for several")->group("Attributes");
  command.add_option("--strategy", words.strategy,
                     "what other attributes do: exemplar (become those of the nearest training image that has these), covariance (follow "
                     "as in training images), sparse (nothing), correlated (covariance or sparse, as the paper), auto (the first that the model and the "
                     "attributes allow)")
      ->check(CLI::IsMember(strategies()))->capture_default_str()->group("Attributes");
}

void add_distance(CLI::App& command, double& strength, double& margin) {
  command.add_option("--strength", strength, "strategies covariance and sparse: distance of the attributes from their mean in units of σ")
      ->check(CLI::NonNegativeNumber)->capture_default_str()->group("Attributes");
  command.add_option("--margin", margin, "… and at least so far on the right side of 0, also for exemplars")
      ->capture_default_str()->group("Attributes");
}

Profile::Profile(CLI::App& command) : command_(command) {
  command.add_option("--profile", name_, "ours, or paper: the paper's settings to the letter, for every option that is not given by itself (docs/paper_profile.md)")
      ->check(CLI::IsMember({"ours", "paper"}))->capture_default_str();
}

void Profile::take_over(engine::SamplingOptions& sampling, engine::GuidanceOptions& guidance, std::size_t attributes) const {
  const auto s = engine::paper::sampling(attributes > 0);
  take_over("--steps", sampling.steps, s.steps);
  take_over("--sampler", sampling.sampler, s.sampler);
  take_over("--travel-length", sampling.travel_length, s.travel_length);
  take_over("--travel-repeat", sampling.travel_repeat, s.travel_repeat);
  const auto g = engine::paper::guidance(attributes);
  take_over("--pseudo-inverse", guidance.pseudo_inverse, g.pseudo_inverse);
  take_over("--metric", guidance.metric, g.metric);
  take_over("--schedule", guidance.schedule, g.schedule);
  take_over("--lambda", guidance.lambda, g.lambda);
  take_over("--window-from", guidance.window_from, g.window_from);
  take_over("--final-projections", guidance.final_projections, g.final_projections);
}

void only_helping(const engine::SamplingOptions& sampling, std::initializer_list<std::string*> files) {
  if (sampling.kept.rank == 0) return;
  for (auto* file : files) file->clear();
}

void finish(const engine::ExperimentResult& result, const std::string& json_file) {
  fmt::print("{}", result.summary);
  if (!result.page.empty()) fmt::print("report: {}\n", result.page);
  if (json_file.empty()) return;
  engine().write_file(json_file, result.json + "\n");
}

std::vector<engine::Photo> photo_files(const std::vector<std::string>& files) {
  std::vector<engine::Photo> photos;
  for (const auto& file : files) photos.push_back({.file = file});
  return photos;
}

std::string command_line() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  std::string text = "spnn", word;
  std::getline(in, word, '\0');   // the program's own path means nothing to a reader
  while (std::getline(in, word, '\0')) {
    const bool plain = word.find_first_of(" '\"$&|;<>()*?") == std::string::npos && !word.empty();
    text += plain ? " " + word : " '" + word + "'";
  }
  return text;
}

}  // namespace spnn::cli
