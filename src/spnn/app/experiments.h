#pragma once

#include <spnn/app/restoration.h>

namespace spnn::app {

// What every experiment is given beside its own settings.
struct ExperimentJob {
  ModelChoice models;
  std::string data;                 // a data set, for held-out and training images
  std::uint64_t seed = 0;
  SamplingOptions sampling;
  GuidanceOptions guidance;
  std::string output;               // a folder for the images; empty: none are kept
  std::string report;               // a folder for report.html; empty: none
  std::string command;              // as typed, for the report
};

struct ReconstructionExperiment : ExperimentJob {
  std::int64_t images = 100;
};

struct EditingExperiment : ExperimentJob {
  std::int64_t seeds = 32;
  std::int64_t unguided = 128;                          // samples to compare with
  std::vector<std::string> attributes;                  // empty: the twelve of the documentation, as far as the model has them
  std::vector<std::vector<AttributeRequest>> sets;      // several attributes at once
  double strength = 2.0, margin = 4.0;
};

struct AblationExperiment : ExperimentJob {
  std::int64_t images = 32;
  std::vector<std::string> pseudo_inverses = {"learned", "anchored", "origin", "random", "min-norm"};
  std::vector<std::string> metrics = {"plain", "residual", "naive"};
  std::vector<double> lambdas = {1.0, 0.3};
  std::int64_t shown = 8;                               // rows of the figure
};

struct PriorExperiment : ExperimentJob {
  std::int64_t samples = 2000;
};

struct ExperimentResult {
  std::string summary;   // a table for the terminal
  std::string json;      // everything
  std::string page;      // the report, if one was asked for
};

}  // namespace spnn::app
