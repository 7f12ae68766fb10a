#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace spnn::engine {

// What all trainers are given: a configuration, data, and where the run lives.
struct TrainJob {
  std::string config;   // a TOML or JSON file
  std::string data;     // a data set: tar, folder, or a known name
  std::string run;      // the run directory
  bool resume = false;
  std::string from = {};    // a model of this architecture to start from; "" starts anew
  std::int64_t steps = 0;   // instead of the configuration's; may change on a resume. 0 is the configuration's own
};

struct ClassifierJob : TrainJob {
  std::string black_box;    // a model whose outputs g learns instead of the labels; "" for none
};

struct NaturalJob : TrainJob {
  std::string teacher;      // a judge that was trained through noise, and that judges nothing else
  std::string memory;       // a classifier whose answers g shall keep (losses.memory); "" for none
  std::string identities;   // who is on each picture: only one half of the validation people (val-a) chooses; "" for all of them
};

struct InverseJob : TrainJob {
  std::string model;        // the SPNN of phase I
};

struct IdentityJob : TrainJob {
  std::string identities;   // a text file: who is on each picture
};

// config may be empty here.
struct DegradationJob : TrainJob {
  std::string degradation;         // a black box: "jpeg:20"; or
  std::string clean, degraded;     // folders of pictures before and after (data is empty then)
  std::string keep;                // what of a degraded picture g has to give; "" is the configuration's
  bool baseline = false;           // also train a plain CNN of as many weights for as long
};

struct DegradationReport {
  struct Row {
    std::string name;
    std::int64_t parameters = 0, steps = 0;
    double seconds = 0;            // of training, of this call
    double rms = 0, psnr = 0;      // of g(x) - T D(x) on held-out pictures, as FitError has them
  };
  std::vector<Row> rows;           // T x, g, and the plain CNN
  std::string model, degradation, keep;
  std::int64_t inputs = 0, outputs = 0, held_out = 0;
  double seen_psnr = 0;            // of T†T D(x) against D(x): what g is never asked for
  double inverse_psnr = 0;         // of g†(g(x)) against x
};

}  // namespace spnn::engine
