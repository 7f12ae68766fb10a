#include <gmock/gmock.h>
#include <spnn/restoration/kept_batches.h>

#include <atomic>
#include <thread>

#include "support/damage.h"
#include "support/temporary.h"

namespace spnn {
namespace {

using ::testing::HasSubstr;
using std::chrono::milliseconds;

KeptConfig place(const testing::TemporaryFolder& folder, std::int64_t rank = 0, std::int64_t size = 1) {
  return {.folder = folder / "kept", .work = "squares", .rank = rank, .size = size, .patience = milliseconds(300)};
}

// The squares of 0 … count − 1, two a batch; `made` counts the batches that were made.
std::vector<double> squares(KeptBatches& kept, std::atomic<int>& made, std::int64_t count = 9, std::int64_t fails_at = -1) {
  Observer observer;
  std::vector<double> all;
  const auto make = [&](std::int64_t first, std::int64_t last) {
    if (first == fails_at) throw Interrupted("interrupted");
    ++made;
    return KeptBatches::Batch{torch::arange(first, last, torch::kFloat64).square(), torch::full({1}, last, torch::kInt64)};
  };
  kept.run(count, 2, observer, make, [&](std::int64_t first, const KeptBatches::Batch& batch) {
    EXPECT_EQ(static_cast<std::int64_t>(all.size()), first);
    EXPECT_EQ(batch.at(1).item<std::int64_t>(), std::min<std::int64_t>(first + 2, count));
    for (std::int64_t i = 0; i < batch.at(0).size(0); ++i) all.push_back(batch.at(0)[i].item<double>());
  });
  return all;
}

const std::vector<double> nine_squares = {0, 1, 4, 9, 16, 25, 36, 49, 64};

TEST(KeptBatches, AnInterruptedWorkGoesOnWhereItWas) {
  const testing::TemporaryFolder folder;
  std::atomic<int> made = 0;
  {
    KeptBatches kept(place(folder));
    EXPECT_THROW(squares(kept, made, 9, /*fails_at=*/6), Interrupted);
  }
  EXPECT_EQ(made, 3);
  KeptBatches again(place(folder));
  EXPECT_EQ(squares(again, made), nine_squares);
  EXPECT_EQ(made, 5);
}

TEST(KeptBatches, StagesAreToldApart) {
  const testing::TemporaryFolder folder;
  std::atomic<int> made = 0;
  KeptBatches kept(place(folder));
  EXPECT_EQ(squares(kept, made), nine_squares);
  EXPECT_EQ(squares(kept, made, 3), (std::vector<double>{0, 1, 4}));
  EXPECT_EQ(made, 7);
}

TEST(KeptBatches, ThreeProcessesMakeEveryBatchOnceAndAllGetAll) {
  const testing::TemporaryFolder folder;
  std::atomic<int> made = 0;
  std::array<std::vector<double>, 3> results;
  std::vector<std::thread> processes;
  for (std::int64_t rank = 0; rank < 3; ++rank) {
    processes.emplace_back([&, rank] {
      KeptBatches kept(place(folder, rank, 3));
      results[static_cast<std::size_t>(rank)] = squares(kept, made);
    });
  }
  for (auto& process : processes) process.join();
  for (const auto& result : results) EXPECT_EQ(result, nine_squares);
  EXPECT_EQ(made, 5);
}

TEST(KeptBatches, WhoIsGoneIsNamedAndOnlyItsImagesAreMadeAgain) {
  const testing::TemporaryFolder folder;
  std::atomic<int> made = 0;
  {
    KeptBatches kept(place(folder, 0, 2));   // process 1 never comes
    const auto text = testing::refusal([&] { squares(kept, made); });
    EXPECT_THAT(text, HasSubstr("images 3 to 4, 7 to 8 of process 1"));
    EXPECT_THAT(text, HasSubstr("only what is missing is made"));
    EXPECT_EQ(made, 3);   // its own, to the end
  }
  KeptBatches alone(place(folder));   // fewer processes may take it up
  EXPECT_EQ(squares(alone, made), nine_squares);
  EXPECT_EQ(made, 5);
}

TEST(KeptBatches, AFolderOfOtherWorkAndARankThatIsTakenAreRefused) {
  const testing::TemporaryFolder folder;
  const KeptBatches kept(place(folder));
  EXPECT_THAT(testing::refusal([&] { KeptBatches second(place(folder)); }), HasSubstr("one process of rank 0"));
  auto other = place(folder, 1, 2);
  other.work = "cubes";
  EXPECT_THAT(testing::refusal([&] { KeptBatches cubes(other); }), HasSubstr("expected the batches of 'cubes', got those of 'squares'"));
  EXPECT_THAT(testing::refusal([&] { KeptBatches beyond(place(folder, 2, 2)); }), HasSubstr("RANK: expected a number from 0 to 1, got 2"));
}

TEST(KeptBatches, ADamagedBatchIsNoticed) {
  const testing::TemporaryFolder folder;
  std::atomic<int> made = 0;
  {
    KeptBatches kept(place(folder));
    squares(kept, made);
  }
  write_atomically(folder / "kept/000-000002.safetensors", std::string_view("not what was written"));
  KeptBatches again(place(folder));
  EXPECT_THAT(testing::refusal([&] { squares(again, made); }), HasSubstr("000-000002.safetensors"));
}

}  // namespace
}  // namespace spnn
