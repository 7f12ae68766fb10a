#pragma once

#include <spnn/checkpoint/guidance_windows.h>
#include <spnn/networks/identity.h>
#include <spnn/networks/judge.h>
#include <spnn/networks/spnn.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace spnn {

// What a model file says about the outputs of its network.
struct OutputInfo {
  std::vector<std::string> names = {};   // of attributes or classes; empty if the file does not say
  std::string task = "attributes";       // "attributes", "classes" or "black_box"
  std::vector<std::vector<std::string>> exclusive = {};   // groups of attributes of which an image has one: hair is blond or black
};

struct SpnnModel {
  std::shared_ptr<Spnn> net;
  OutputInfo outputs;
  Tensor mean, covariance;   // [A] and [A, A] of the outputs over the training images; undefined if not stored
  Tensor exemplars;          // [N, A]: outputs of some training images; undefined if not stored
  Tensor places;             // [A, h, w]: where in a picture each attribute lives (training/places.h); undefined if not stored
  GuidanceWindows windows;
};

struct JudgeModel {
  std::shared_ptr<Judge> net;
  OutputInfo outputs;
};

// Networks for inference: weights in float, without gradients. A file of another kind is refused by name.
SpnnModel load_spnn(const std::filesystem::path& file);
JudgeModel load_judge(const std::filesystem::path& file);
std::shared_ptr<Identity> load_identity(const std::filesystem::path& file);

}  // namespace spnn
