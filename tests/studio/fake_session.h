#pragma once

// A session without networks: as slow, as cancellable and as talkative as a test wants it.

#include <spnn/engine/session.h>
#include <studio/server.h>
#include <studio/studio.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace spnn::studio::test {

class FakeSession final : public engine::Session {
 public:
  std::chrono::milliseconds step{1};
  mutable std::atomic<int> edits = 0, inside = 0;
  mutable std::mutex mutex;
  mutable std::vector<std::uint64_t> seeds;  // in the order in which they were worked on

  static constexpr std::int64_t kSize = 16;

  engine::SessionInfo info() const override {
    return {.family = "fake",
            .device = "cpu",
            .task = "attributes",
            .names = {"Smiling", "Eyeglasses", "Male"},
            .width = kSize,
            .height = kSize,
            .channels = 3,
            .network = "fake"};
  }
  std::int64_t loaded() const override { return 0; }

  static engine::Image picture(std::uint64_t seed, std::int64_t size = kSize) {
    engine::Image image{size, size, 3, {}};
    for (std::int64_t i = 0; i < size * size * 3; ++i)
      image.pixels.push_back(static_cast<std::uint8_t>(seed * 31 + static_cast<std::uint64_t>(i) * 7));
    return image;
  }

  engine::EditResult edit(const engine::EditRequest& wish, Observer& watch) const override {
    work(wish.seed, wish.fast ? 1 : wish.sampling.steps, watch);
    engine::EditResult result;
    result.images.push_back({.image = picture(wish.seed),
                             .seed = wish.seed,
                             .outputs = {1, 2, 3},
                             .target = {1, 2, 3},
                             .judge = {0, 1, 2}});
    return result;
  }
  engine::ReconstructResult reconstruct(const engine::ReconstructRequest&, Observer&) const override { return {}; }
  engine::RestoreResult restore(const engine::RestoreRequest& wish, Observer& watch) const override {
    work(wish.seed, wish.sampling.steps, watch);
    engine::RestoreResult result;
    result.images.push_back({.image = picture(wish.seed), .psnr = 20.0, .ssim = 0.5});
    return result;
  }
  engine::SampleResult sample(const engine::SampleRequest& wish, Observer& watch) const override {
    if (wish.seed == 666) throw std::runtime_error("sample: expected luck, got none\nand a long trace");
    work(wish.seed, wish.sampling.steps, watch);
    return {.images = {picture(wish.seed)}};
  }
  engine::ProjectResult project(const engine::ProjectRequest&) const override {
    return {.image = picture(1), .saved = {0, 0, 0}};
  }
  engine::ProjectResult pinv(const engine::PinvRequest&) const override { return {.image = picture(2)}; }
  engine::PartsResult parts(const engine::PartsRequest&) const override {
    return {.photo = picture(1), .range = picture(2), .null = picture(3)};
  }
  engine::ValuesResult values(const engine::ValuesRequest& wish) const override {
    return {.photo = wish.photo.image, .outputs = {0, 1, 2}, .judge = {0, 1, 2}};
  }
  engine::Image measure(const engine::MeasureRequest& wish) const override { return wish.photo.image; }
  std::vector<engine::AttributeRange> attributes() const override {
    return {{.name = "Smiling", .mean = 0, .deviation = 2}};
  }
  engine::VerifyReport verify(const engine::VerifyRequest&, Observer&) const override { return {}; }

 private:
  void work(std::uint64_t seed, std::int64_t steps, Observer& watch) const {
    if (++inside > 1) throw std::logic_error("two jobs at once");
    struct Leave {
      std::atomic<int>& n;
      ~Leave() { --n; }
    } leave{inside};
    {
      const std::lock_guard lock(mutex);
      seeds.push_back(seed);
    }
    ++edits;
    for (std::int64_t i = 1; i <= steps; ++i) {
      std::this_thread::sleep_for(step);
      if (watch.cancelled()) throw std::runtime_error("interrupted");
      watch.progress(i, steps, "step");
      if (watch.wants_previews()) {
        const auto image = picture(seed + static_cast<std::uint64_t>(i));
        watch.preview(
            {.name = "a", .width = image.width, .height = image.height, .channels = 3, .pixels = image.pixels});
      }
    }
  }
};

inline Models fake_models(const FakeSession& session) {
  Models models;
  models.session = &session;
  models.fit = [](const engine::Photo& photo, std::int64_t width, std::int64_t) {
    if (photo.encoded.size() < 40) throw std::runtime_error("photo: expected a whole file, got a torn one");
    return FakeSession::picture(photo.encoded.size(), width);
  };
  models.methods = {{.name = "nlbp", .what = "ours"}, {.name = "ddrm", .what = "linear", .linear_only = true}};
  models.version = "test";
  return models;
}

}  // namespace spnn::studio::test
