#pragma once

// The common part of `reconstruct` and `edit`. Internal to app/.

#include <spnn/app/restoration_session.h>

namespace spnn::app {

// One image to make.
struct Wish {
  std::string file;      // in the output folder
  std::string source;    // what it was made from, for the report
  std::uint64_t seed = 0;
};

struct RestorationWork {
  std::vector<Wish> wishes = {};
  std::function<Target(std::int64_t first, std::int64_t last)> target = {};
  std::function<SamplerStart(std::int64_t first, std::int64_t last)> start = {};   // empty: noise
  Tensor controlled = {};              // outputs that were asked for, [S]; undefined: all
  GuidanceOptions guidance = {};
  SamplingOptions sampling = {};
  std::string output = {};
  OnPreview on_preview = {};

  std::string report = {};             // a folder; empty: none
  std::string section = {}, title = {}, command = {};   // of the section in it
};

// Saves every batch as soon as it is finished. An interrupt throws Interrupted, naming the images that are missing.
RestorationReport restore_and_save(const RestorationModels& models, const RestorationWork& work, Observer& observer);

}  // namespace spnn::app
