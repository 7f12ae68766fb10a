#pragma once

#include <gtest/gtest.h>
#include <spnn/core/observer.h>
#include <spnn/core/rng.h>
#include <spnn/image/image.h>

#include "support/tiny_models.h"

namespace spnn::testing {

// A test of what the façade does with files: tiny models, made once, and a folder of its own.
class AppJobs : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { models = new TinyModels; }
  static void TearDownTestSuite() { delete models; }

  // A random grey image; `name` may have folders in it.
  std::string image(const std::string& name, std::int64_t side = 32) const {
    const auto file = folder / name;
    std::filesystem::create_directories(file.parent_path());
    write_image(file, (Rng(name.size()).uniform({1, side, side}) * 255).to(torch::kUInt8));
    return file.string();
  }

  // A job with the tiny models and few steps.
  template <class Job>
  Job small_job(const std::string& output, std::int64_t steps = 6) const {
    Job job;
    job.models = models->choice();
    job.output = (folder / output).string();
    job.sampling.steps = steps;
    return job;
  }

  inline static TinyModels* models = nullptr;
  TemporaryFolder folder;
  Observer observer;
};

}  // namespace spnn::testing
