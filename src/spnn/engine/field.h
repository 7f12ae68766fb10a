#pragma once

// The field on one plane: every operator and every method under one command.

#include <spnn/engine/experiments.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace spnn::engine {

struct FieldCatalogue {
  struct Operator {
    std::string name, parameters, what, pseudo_inverse;
  };
  struct Method {
    std::string name, what;
    bool linear_only = false, knows_noise = false;
  };
  struct BlackBox {
    std::string name, parameters, what;
  };
  std::vector<Operator> operators;
  std::vector<BlackBox> black_boxes;   // what `train degradation` fits a network to
  std::vector<Method> methods;
};

// What methods can be told beside the sampler's options.
struct MethodOptions {
  double lambda = 1;                      // nlbp
  bool exact = false;                     // nlbp: go all the way to y, whatever is known of noise and of the error of a fitted g
  std::string metric = "plain";           // nlbp on a network: plain or residual; `reconstruct` measured which is better
  std::string pseudo_inverse = "learned";
  double gradient = 1;                    // dps, mcg
  double ddrm_eta = 0.85, ddrm_eta_b = 1;
  std::int64_t repaint_length = 10, repaint_repeat = 3;
  std::int64_t langevin = 4;              // snips
  double langevin_step = 0.2;
  std::int64_t iterations = 100;          // ibp
  std::map<std::string, double> more;     // by their names in spnn/restoration/method_table.h, those that are not to have their default
};

struct CompareJob {
  ModelChoice models;
  std::string device = "cpu";
  std::string data;                       // a data set (its held-out images), or a folder of images
  HeldOutChoice held_out;                 // which of its images
  std::int64_t images = 16;
  std::string identity;                   // an identity network: distances between its feature maps too; "" for none
  std::vector<std::string> operators = {"sr4", "box", "random:0.5", "gauss:1.5", "grey", "cs:0.25", "gamma+sr4@0", "log+gauss:1@0"};
  std::vector<std::string> noises = {"0", "0.05"};   // for operators without an @NOISE of their own
  std::vector<std::string> methods;       // empty: all that apply
  std::uint64_t seed = 0;
  SamplingOptions sampling;
  MethodOptions options;
  std::int64_t shown = 4;                 // images in a figure
  std::string output = "comparison";      // comparison.csv, report.html, figures; empty: nothing is written
  std::string command;
};

}  // namespace spnn::engine
