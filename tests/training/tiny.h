#pragma once

#include <gmock/gmock.h>
#include <spnn/checkpoint/safetensors.h>
#include <spnn/data/dataset.h>
#include <spnn/networks/spnn.h>
#include <spnn/training/trainer.h>

#include "support/temporary.h"

namespace spnn::testing {

// Images of 8×8 in which label a says whether corner a is bright.
inline Dataset tiny_dataset(std::int64_t count, std::uint64_t seed = 1, std::int64_t labels = 3) {
  Dataset set;
  set.name = "tiny";
  set.labels = Rng(seed).fork(1).uniform({count, labels}).gt(0.5).to(torch::kFloat32);
  auto images = Rng(seed).fork(0).uniform({count, 3, 8, 8}) * 120;
  for (std::int64_t a = 0; a < labels; ++a) {
    images.narrow(2, 4 * (a / 2), 4).narrow(3, 4 * (a % 2), 4) += 120 * set.labels.select(1, a).view({-1, 1, 1, 1});
    set.attributes.push_back("corner_" + std::to_string(a));
  }
  set.images = images.to(torch::kUInt8);
  set.splits.assign(static_cast<std::size_t>(count), Split::train);
  return set;
}

// Two levels: 12→6 at 4², 96→`outputs` at 1².
inline SpnnConfig tiny_network(std::int64_t outputs = 3) {
  SubnetConfig net;
  net.hidden = 8;
  net.depth = 2;
  SurjectionBlockConfig first;
  first.out = 6;
  first.s = first.r = net;
  auto second = first;
  second.out = outputs;
  second.s.kernel = second.r.kernel = 1;
  return {.name = "tiny", .input = {3, 8, 8},
          .blocks = {UnshuffleBlockConfig{2, 2}, first, UnshuffleBlockConfig{4, 4}, second}, .r_sets = {}};
}

inline TrainConfig tiny_training(std::int64_t steps) {
  TrainConfig c;
  c.steps = steps;
  c.batch = 16;
  c.lr = 3e-3;
  c.warmup = 5;
  c.ema = 0.9;
  c.validate_every = steps;
  c.checkpoint_every = 7;
  return c;
}

// Interrupts after so many steps.
class StopsAfter final : public Observer {
 public:
  explicit StopsAfter(std::int64_t steps) : left_(steps) {}
  bool cancelled() const override { return --left_ <= 0; }

 private:
  mutable std::int64_t left_;
};

inline void train_in(const std::filesystem::path& folder, Objective& objective, const TrainConfig& config, Observer& observer,
                     bool resume = false) {
  RunDirectory run(folder, {{"trainer", "test"}}, resume);
  Communicator alone;
  train(objective, {.config = config, .run = run, .observer = observer, .communicator = alone, .resume = resume});
}

inline void train_in(const std::filesystem::path& folder, Objective& objective, const TrainConfig& config) {
  Observer quiet;
  train_in(folder, objective, config, quiet);
}

inline void expect_same_tensors(const std::filesystem::path& a, const std::filesystem::path& b) {
  const auto one = read_safetensors(a), two = read_safetensors(b);
  ASSERT_EQ(one.tensors.size(), two.tensors.size());
  for (const auto& [name, value] : one.tensors) EXPECT_TRUE(torch::equal(value, two.tensors.at(name))) << name;
}

// Trains what `make` returns twice, to folder/whole in one go and to folder/parts with an interruption after every nine
// steps: these files end with the same bits.
template <class Make>
void expect_same_when_interrupted(const TemporaryFolder& folder, const TrainConfig& config, const Make& make,
                                  const std::vector<std::string>& files = {"state.safetensors", "best.safetensors"}) {
  const auto whole = make();
  train_in(folder / "whole", *whole, config);
  for (bool first = true, done = false; !done; first = false) {
    const auto part = make();
    StopsAfter observer(9);
    try {
      train_in(folder / "parts", *part, config, observer, !first);
      done = true;
    } catch (const Interrupted&) {
    }
  }
  for (const auto& name : files) expect_same_tensors(folder / ("whole/" + name), folder / ("parts/" + name));
}

}  // namespace spnn::testing
