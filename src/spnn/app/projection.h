#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace spnn::app {

// A network: a model file, or "preset:NAME" for a preset with random weights (to try things without a model).
struct NetworkChoice {
  std::string model;
  std::string device = "cpu";
  bool in_double = false;
};

struct VerifyJob {
  NetworkChoice network;
  std::string images;           // a file or a folder; empty: random inputs
  std::int64_t count = 4;
  std::uint64_t seed = 0;
  double tolerance = 0;         // 0: the network's own (1e-4 in float, 1e-11 in double)
  std::string json;             // also write the report there
};

struct VerifyReport {
  struct Row {
    std::string name;
    double absolute, relative, tolerance;
    bool passed;
  };
  std::string network;          // for a person: name, shapes, parameters, type
  std::vector<Row> residuals;
  double plain_drift_of_learned_r = 0;
  bool passed = false;
};

// Where to: g of an image, values from a file, single outputs by name or number — set last, over what came before.
struct TargetChoice {
  std::string image;
  std::string values;           // JSON array, or numbers separated by blanks or commas
  std::vector<std::pair<std::string, double>> set;
};

struct PinvJob {
  NetworkChoice network;
  std::string pseudo_inverse = "learned";
  TargetChoice target;
  std::string output;
  std::uint64_t seed = 0;       // of the random pseudo-inverse
  std::string json;
};

struct ProjectJob {
  NetworkChoice network;
  std::string image;
  std::string pseudo_inverse = "anchored";
  std::string metric = "residual";
  bool naive = false;
  double lambda = 1.0;
  TargetChoice target;
  std::string output;
  std::uint64_t seed = 0;
  std::string json;
};

struct ProjectReport {
  struct Output {
    std::string name;
    double before, target, after, saved;   // of the image, asked for, of the result, of the written 8-bit file
  };
  std::vector<Output> outputs;
  double consistency = 0;                  // max |g(x') − ((1−λ)g(x) + λy)|
  double consistency_saved = 0;            // the same for the written file
  double moved = 0;                        // root mean square of x' − x
};

}  // namespace spnn::app
