#include <gtest/gtest.h>
#include <spnn/core/errors.h>
#include <spnn/data/batches.h>

#include "support/tensor_near.h"

namespace spnn {
namespace {

using testing::TensorNear;

Dataset numbered(std::int64_t count) {
  Dataset dataset;
  dataset.images =
      torch::arange(count * 3 * 4 * 6, torch::kInt64).remainder(251).to(torch::kUInt8).view({count, 3, 4, 6});
  dataset.labels = torch::arange(count, torch::kFloat32).view({count, 1});
  return dataset;
}

TEST(BatchOrder, AnEpochVisitsEveryImageOnce) {
  const BatchOrder order(/*images=*/12, /*batch=*/4, /*seed=*/7);
  const Tensor epoch = torch::cat({order.indices(3), order.indices(4), order.indices(5)});
  EXPECT_TRUE(std::get<0>(epoch.sort()).equal(torch::arange(12)));
  EXPECT_EQ(order.epoch(3), 1);
}

TEST(BatchOrder, IsAFunctionOfSeedAndStep) {
  const BatchOrder a(100, 8, 1), b(100, 8, 1), other(100, 8, 2);
  EXPECT_TRUE(a.indices(40).equal(b.indices(40)));
  EXPECT_FALSE(a.indices(40).equal(other.indices(40)));
  EXPECT_FALSE(a.indices(0).equal(a.indices(12)));  // the next epoch is in another order
}

TEST(BatchOrder, ABatchIsNeverLargerThanTheSet) {
  EXPECT_EQ(BatchOrder(3, 8, 0).indices(0).size(0), 3);
}

TEST(MakeBatch, WithoutAugmentationIsTheImageInUnits) {
  const Dataset dataset = numbered(5);
  const Batch batch = make_batch(dataset, torch::tensor({4, 1}));
  EXPECT_THAT(batch.images, TensorNear(to_unit(dataset.images.index_select(0, torch::tensor({4, 1}))), 0));
  EXPECT_THAT(batch.labels, TensorNear(torch::tensor({{4.f}, {1.f}}), 0));
}

TEST(MakeBatch, AFlipIsTheMirrorImageForAboutHalf) {
  const Dataset dataset = numbered(200);
  const Tensor all = torch::arange(200), plain = to_unit(dataset.images);
  const Batch batch = make_batch(dataset, all, {.flip = true}, Rng(3));
  const Tensor same = (batch.images == plain).flatten(1).all(1),
               mirrored = (batch.images == plain.flip({3})).flatten(1).all(1);
  EXPECT_TRUE((same | mirrored).all().item<bool>());
  EXPECT_NEAR(mirrored.sum().item<std::int64_t>(), 100, 35);  // five standard deviations
}

TEST(MakeBatch, AShiftMovesByAtMostSoManyPixels) {
  const Dataset dataset = numbered(40);
  const Tensor plain = to_unit(dataset.images);
  const Batch batch = make_batch(dataset, torch::arange(40), {.shift = 1}, Rng(5));
  Tensor explained = torch::zeros({40}, torch::kBool);
  const Tensor padded = torch::replication_pad2d(plain, {1, 1, 1, 1});
  for (int dy = 0; dy < 3; ++dy) {
    for (int dx = 0; dx < 3; ++dx) {
      const Tensor moved = padded.slice(2, dy, dy + 4).slice(3, dx, dx + 6);
      explained = explained | (batch.images == moved).flatten(1).all(1);
    }
  }
  EXPECT_TRUE(explained.all().item<bool>());
  EXPECT_FALSE(batch.images.equal(plain));
}

TEST(MakeBatch, DoesNotDependOnHowABatchIsCut) {
  const Dataset dataset = numbered(16);
  const Augment augment{.flip = true, .shift = 2};
  const Tensor indices = BatchOrder(16, 8, 1).indices(0);
  const Tensor whole = make_batch(dataset, indices, augment, Rng(9)).images;
  const Tensor second = make_batch(dataset, indices.chunk(2)[1], augment, Rng(9)).images;
  EXPECT_THAT(second, TensorNear(whole.slice(0, 4), 0));
}

TEST(MakeBatch, RefusesAnIndexOutOfRange) {
  EXPECT_THROW(make_batch(numbered(3), torch::tensor({3})), Error);
}

TEST(Prefetcher, ReturnsWhatMakeGivesInAnyOrder) {
  const Dataset dataset = numbered(30);
  const BatchOrder order(30, 4, 11);
  const auto make = [&](std::int64_t step) {
    return make_batch(dataset, order.indices(step), {.flip = true},
                      Rng(1).fork(static_cast<std::uint64_t>(step)));
  };
  Prefetcher prefetcher(make);
  for (const std::int64_t step : {0, 1, 2, 9, 3, 3, 4}) {
    EXPECT_THAT(prefetcher.get(step).images, TensorNear(make(step).images, 0)) << "step " << step;
  }
}

TEST(Prefetcher, PassesOnTheErrorOfTheStepThatFailed) {
  Prefetcher prefetcher([](std::int64_t step) -> Batch {
    if (step == 1) fail("make", "an even step", "1");
    return {};
  });
  prefetcher.get(0);
  EXPECT_THROW(prefetcher.get(1), Error);
}

}  // namespace
}  // namespace spnn
