#pragma once

#include <spnn/engine/restoration.h>
#include <spnn/projection/pseudo_inverse.h>

namespace spnn::engine {

// Which images are held against: all of a split in a random order, so that the first N are a choice of N.
struct HeldOutChoice {
  std::string split = "val";        // val (test, of a set that has none), test, or val-a and val-b: halves of the validation people
  std::string identities;           // who is on each picture, for the halves
  std::uint64_t seed = 0;           // of the order
  bool one_each = false;            // every person once before anybody comes twice, by `identities`
};

// What every experiment is given beside its own settings.
struct ExperimentJob {
  ModelChoice models;
  std::string device = "cpu";       // samples are made there, measurements on the CPU
  std::string data;                 // a data set, for held-out and training images
  HeldOutChoice held_out;
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
  std::string strategy = "auto";                        // of all attributes
  bool each_step = false;                               // targets are read from g(x̂0) again at every step
  std::optional<std::int64_t> sets_window_from = {};    // where guidance of several attributes begins; none: as that of one
};

// Photos of people that nothing was trained or chosen by, each with every attribute on the side where it is not.
struct PhotosExperiment : ExperimentJob {
  std::int64_t photos = 100;                            // of as many people, if there is a list of them
  std::string identity;                                 // an identity network; empty: no identity is measured
  std::vector<std::string> attributes;                  // empty: twelve of CelebA's
  bool fast = false;                                    // one back-projection, no diffusion
  std::optional<double> keep = {};
  double amount = photo_amount;
  std::int64_t shown = 8;                               // people in the report's pictures: the first ones
};

struct AblationExperiment : ExperimentJob {
  std::int64_t images = 32;
  std::vector<std::string> pseudo_inverses = words_of(kPseudoInverses);
  std::vector<std::string> metrics = words_of(kMetrics);
  std::vector<double> lambdas = {1.0, 0.3};
  std::int64_t shown = 8;                               // rows of the figure
};

struct PriorExperiment : ExperimentJob {
  std::int64_t samples = 2000;
  std::string identity;                                 // an identity network: the distance in its features too; "" for none
};

struct CascadeExperiment : ExperimentJob {
  std::int64_t samples = 256;
  std::int64_t photos = 64;                             // held-out images made small and large again
};

struct ExperimentResult {
  std::string summary;   // a table for the terminal
  std::string json;      // everything
  std::string page;      // the report, if one was asked for
};

}  // namespace spnn::engine
