#pragma once

#include <CLI/CLI.hpp>

#include <spnn/engine/experiments.h>
#include <spnn/engine/image.h>
#include <spnn/data/split.h>
#include <spnn/projection/pseudo_inverse.h>

#include "attribute_request.h"

namespace spnn::cli {

// The words that an option takes, as the library knows them.
inline std::vector<std::string> pseudo_inverses() { return words_of(kPseudoInverses); }
inline std::vector<std::string> metrics() { return words_of(kMetrics); }
inline std::vector<std::string> splits() { return words_of(kSplits); }

// Options that several restoration commands have. Each adds them to `command` and fills the struct.
struct ModelRoles {
  bool classifier = true, judge = false;   // which models the command has beside the prior
};
void add_models(CLI::App& command, engine::ModelChoice& models, ModelRoles roles = {});
void add_size(CLI::App& command, engine::ModelChoice& models);   // with the second stage
void add_lead(CLI::App& command, engine::ModelChoice& models);   // away from the weak prior, where images are made
void add_device(CLI::App& command, std::string& device);
// Where the work knows no other device, another one is refused with a sentence. `what` runs on the CPU only.
void add_cpu_only(CLI::App& command, const std::string& what);
void add_fit(CLI::App& command, bool& fit);   // what is done with photos of another size
void add_sampling(CLI::App& command, engine::SamplingOptions& sampling);
void add_held_out(CLI::App& command, engine::HeldOutChoice& choice);
void add_guidance(CLI::App& command, engine::GuidanceOptions& guidance, std::int64_t default_window);
// Data, seed, device, where images and a report go.
void add_measured(CLI::App& command, engine::ExperimentJob& job, const std::string& output = "a folder for the images (default: they are not kept)");
void add_experiment(CLI::App& command, engine::ExperimentJob& job, std::int64_t default_window = engine::reconstruct_window);   // all of the above
void add_json(CLI::App& command, std::string& file);

// --set and --unset as one list; the same attribute asked for twice is an error.
struct AttributeWords {
  std::vector<std::string> set, unset;
  std::string strategy = "auto";
  std::vector<engine::AttributeRequest> requests() const;
};
void add_attributes(CLI::App& command, AttributeWords& words);
void add_distance(CLI::App& command, double& strength, double& margin);   // of what --set and --unset aim at

// --profile: ours, or the paper's value for every option that was not given by itself. Taken over when all options are known.
class Profile {
 public:
  explicit Profile(CLI::App& command);
  bool paper() const { return name_ == "paper"; }
  // attributes: how many are edited, 0 for a reconstruction.
  void take_over(engine::SamplingOptions& sampling, engine::GuidanceOptions& guidance, std::size_t attributes = 0) const;
  template <class T, class P>
  void take_over(const std::string& option, T& value, const P& of_paper) const {
    if (paper() && command_.count(option) == 0) value = of_paper;
  }

 private:
  const CLI::App& command_;
  std::string name_ = "ours";
};

// A process that helps process 0 (--kept) writes no files of its own.
void only_helping(const engine::SamplingOptions& sampling, std::initializer_list<std::string*> files);

// Prints the table, writes the JSON file if one was asked for, and says where the report is.
void finish(const engine::ExperimentResult& result, const std::string& json_file);

// What a request that makes images is given besides: where they go, how many, from which seed, and with which models.
template <class Request>
void add_making(CLI::App& command, Request& wish, engine::ModelChoice& models, std::string& device, const std::string& samples, std::int64_t default_window) {
  add_fit(command, wish.fit);
  command.add_option("-o,--output", wish.files.folder, "a folder")->capture_default_str();
  command.add_option("-n,--samples", wish.samples, samples)->check(CLI::PositiveNumber)->capture_default_str();
  command.add_option("--seed", wish.seed, "image i is made from seed + i, whatever the batch")->capture_default_str();
  command.add_option("--report", wish.files.report, "add to DIR/report.html, with the tables as CSV beside it");
  add_models(command, models);
  add_size(command, models);
  add_device(command, device);
  add_sampling(command, wish.sampling);
  add_guidance(command, wish.guidance, default_window);
}

// Files as photos of a request.
std::vector<engine::Photo> photo_files(const std::vector<std::string>& files);

// The command line as typed, for reports.
std::string command_line();

}  // namespace spnn::cli
