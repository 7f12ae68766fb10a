#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spnn::engine {

struct EvaluateClassifierJob {
  std::string model;            // an SPNN, or a judge
  std::string judge;            // a judge to hold beside it; "" for none
  std::string data;
  std::string split = "val";
  std::string device = "cpu";
  std::string json;             // also write the figures here
};

// Shares in [0, 1]; of a class, accuracy is its recall.
struct ClassifierFigures {
  struct Row {
    std::string name;
    double rate = 0, accuracy = 0;
    std::optional<double> judge, agreement;
  };
  std::vector<Row> rows;
  std::int64_t images = 0;
  double mean_accuracy = 0, majority = 0;
  std::optional<double> judge_mean_accuracy, agreement;
};

}  // namespace spnn::engine
