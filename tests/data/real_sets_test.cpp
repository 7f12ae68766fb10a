#include <gtest/gtest.h>
#include <spnn/data/dataset.h>

#include <algorithm>
#include <cstdlib>

namespace spnn {
namespace {

// Sets that a developer may have; without them these tests say so. The tests of the layouts build their own.
std::filesystem::path celebahq64() {
  const char* set = std::getenv("SPNN_CELEBAHQ64");
  return set ? set : SPNN_SOURCE_DIR "/../shared/data/celebahq64.tar";
}

TEST(RealSets, CelebAHQSplitsByPerson) {
  if (!std::filesystem::exists(celebahq64())) GTEST_SKIP() << "no CelebA-HQ tar (SPNN_CELEBAHQ64)";
  const Dataset val = load_dataset(celebahq64(), {.split = Split::val});
  EXPECT_EQ(val.images.sizes(), (std::vector<std::int64_t>{2993, 3, 64, 64}));
  EXPECT_EQ(val.labels.sizes(), (std::vector<std::int64_t>{2993, 40}));
  EXPECT_TRUE(val.split_rule.starts_with("CelebA's partition"));
  EXPECT_EQ(val.attributes[20], "Male");
  EXPECT_TRUE(((val.labels == 0) | (val.labels == 1)).all().item<bool>());
}

TEST(RealSets, FashionMnistIsPaddedAndSplit) {
  if (!std::filesystem::exists("/usr/share/datasets/fashion-mnist"))
    GTEST_SKIP() << "no dataset-fashion-mnist";
  const Dataset test = load_dataset("fashion-mnist", {.split = Split::test});
  EXPECT_EQ(test.images.sizes(), (std::vector<std::int64_t>{10000, 1, 32, 32}));
  EXPECT_EQ(test.images.slice(2, 0, 2).sum().item<std::int64_t>(), 0);
  EXPECT_TRUE(torch::bincount(test.labels).eq(1000).all().item<bool>());
  const Dataset val = load_dataset("fashion-mnist", {.split = Split::val, .limit = 100});
  EXPECT_EQ(val.size(), 100);
  EXPECT_EQ(val.files.front(), "train-55000");
}

}  // namespace
}  // namespace spnn
