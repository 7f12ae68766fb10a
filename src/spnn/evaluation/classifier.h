#pragma once

#include <spnn/core/config.h>
#include <spnn/data/task.h>

#include <optional>

namespace spnn {

// What a network g, and a judge beside it, make of labelled images. Shares are in [0, 1].
struct ClassifierReport {
  struct Row {
    std::string name;                    // of the attribute or class
    double rate = 0;                     // how often the label is set
    double accuracy = 0;                 // of an attribute, or the recall of a class
    std::optional<double> judge;         // the judge's
    std::optional<double> agreement;     // how often g and the judge say the same; of a class, over its images
  };
  std::vector<Row> rows;
  std::int64_t images = 0;
  double mean_accuracy = 0;
  double majority = 0;                   // of always giving the more frequent answer
  std::optional<double> judge_mean_accuracy;
  std::optional<double> agreement;
};

// outputs: g over the set ([N, A]); judge: the judge over the same images, or undefined.
ClassifierReport report_classifier(const Dataset& dataset, const Tensor& outputs, const Tensor& judge = {});

Json to_json(const ClassifierReport& report);

}  // namespace spnn
