#pragma once

#include <gtest/gtest.h>
#include <spnn/core/observer.h>
#include <spnn/core/rng.h>
#include <spnn/image/image.h>
#include <spnn/engine/engine.h>
#include <spnn/jobs/pictures.h>
#include <spnn/jobs/session.h>

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

  // A request with few steps that writes to a folder of the test.
  template <class Request>
  Request small(const std::string& output, std::int64_t steps = 6) const {
    Request request{.fit = false};
    request.files.folder = (folder / output).string();
    request.sampling.steps = steps;
    return request;
  }

  static std::unique_ptr<engine::Session> open(const engine::ModelChoice& choice) { return engine::open_session({.models = choice}); }
  static std::unique_ptr<engine::Session> open() { return open(models->choice()); }
  static std::vector<engine::Photo> photos(const std::vector<std::string>& files) { return engine::photo_files(files); }

  inline static TinyModels* models = nullptr;
  TemporaryFolder folder;
  Observer observer;
  engine::Engine jobs;
};

}  // namespace spnn::testing
