#include <gtest/gtest.h>
#include <spnn/core/errors.h>
#include <spnn/data/dataset.h>
#include <spnn/data/summary.h>
#include <spnn/image/image.h>

#include "data/sample_sets.h"
#include "support/damage.h"
#include "support/tensor_near.h"

namespace spnn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TemporaryFolder;
using testing::TensorNear;

// Which numbered images a set holds.
std::vector<int> numbers(const Dataset& dataset) {
  std::vector<int> found;
  for (std::int64_t i = 0; i < dataset.size(); ++i) {
    found.push_back(int(dataset.images[i].to(torch::kFloat32).mean().item<float>() / 10 + 0.5f));
  }
  return found;
}

TEST(CelebAHQ, SplitsByPartitionThroughTheMapping) {
  const TemporaryFolder folder;
  testing::write_celeba_hq(folder.path(), /*with_partition=*/true);
  EXPECT_THAT(numbers(load_dataset(folder.path(), {.split = Split::train})), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(numbers(load_dataset(folder.path(), {.split = Split::val})), ElementsAre(6, 7));
  const Dataset test = load_dataset(folder.path(), {.split = Split::test});
  EXPECT_THAT(numbers(test), ElementsAre(8, 9));
  EXPECT_THAT(test.labels, TensorNear(torch::tensor({{0.f, 1.f}, {1.f, 1.f}}), 0));
  EXPECT_THAT(test.attributes, ElementsAre("Odd", "Big"));
  EXPECT_EQ(test.name, "CelebAMask-HQ");
  EXPECT_THAT(test.split_rule, HasSubstr("CelebA's partition"));
}

TEST(CelebAHQ, SplitsByIndexWithoutPartition) {
  const TemporaryFolder folder;
  testing::write_celeba_hq(folder.path(), /*with_partition=*/false);
  const Dataset all = load_dataset(folder.path(), {.split = Split::all});
  EXPECT_EQ(std::count(all.splits.begin(), all.splits.end(), Split::train), 8);
  EXPECT_THAT(numbers(load_dataset(folder.path(), {.split = Split::val})), ElementsAre(8));
  EXPECT_THAT(all.split_rule, HasSubstr("by index, 80/10/10"));
}

TEST(CelebAHQ, ATarGivesTheSameAsItsFolder) {
  const TemporaryFolder folder;
  testing::write_celeba_hq(folder / "set", /*with_partition=*/true);
  testing::write_file(folder / "set.tar", testing::tar_of(folder / "set", "./CelebAMask-HQ/"));
  for (const Split split : {Split::train, Split::val, Split::test, Split::all}) {
    const Dataset a = load_dataset(folder / "set", {.split = split}),
                  b = load_dataset(folder / "set.tar", {.split = split});
    EXPECT_THAT(b.images, TensorNear(a.images, 0));
    EXPECT_THAT(b.labels, TensorNear(a.labels, 0));
    EXPECT_EQ(a.splits, b.splits);
  }
}

TEST(CelebAHQ, LimitTakesTheFirst) {
  const TemporaryFolder folder;
  testing::write_celeba_hq(folder.path(), true);
  EXPECT_THAT(numbers(load_dataset(folder.path(), {.limit = 2})), ElementsAre(0, 1));
}

// CelebA's face box is white here, the rest black: what is kept is all white.
void write_celeba(const TemporaryFolder& folder, bool csv) {
  Tensor image = torch::zeros({3, 218, 178}, torch::kUInt8);
  image.slice(1, 37, 195).slice(2, 10, 168).fill_(255);
  for (int i = 1; i <= 3; ++i)
    testing::put_image(folder / fmt::format("img_align_celeba/{:06}.jpg", i), image);
  if (csv) {
    testing::put(folder / "list_attr_celeba.csv",
                 "image_id,Bald\n000001.jpg,-1\n000002.jpg,1\n000003.jpg,-1\n");
    testing::put(folder / "list_eval_partition.csv",
                 "image_id,partition\n000001.jpg,0\n000002.jpg,1\n000003.jpg,2\n");
  } else {
    testing::put(folder / "list_attr_celeba.txt", "3\nBald \n000001.jpg -1\n000002.jpg  1\n000003.jpg -1\n");
    testing::put(folder / "list_eval_partition.txt", "000001.jpg 0\n000002.jpg 1\n000003.jpg 2\n");
  }
}

TEST(CelebA, IsCroppedToTheFramingOfCelebAHQ) {
  for (const bool csv : {false, true}) {
    const TemporaryFolder folder;
    write_celeba(folder, csv);
    const Dataset val = load_dataset(folder.path(), {.split = Split::val, .size = 32});
    EXPECT_EQ(val.name, "CelebA");
    EXPECT_EQ(val.images.sizes(), (std::vector<std::int64_t>{1, 3, 32, 32}));
    EXPECT_GT(val.images.slice(2, 1, 31).slice(3, 1, 31).min().item<int>(), 240);
    EXPECT_EQ(val.labels.item<float>(), 1.f);
    EXPECT_EQ(load_dataset(folder.path()).images.size(3), 158);
  }
}

TEST(CelebA, AGivenCropReplacesTheSetsOwn) {
  const TemporaryFolder folder;
  write_celeba(folder, false);
  const Dataset train =
      load_dataset(folder.path(), {.crop = Box{.left = 0, .top = 0, .right = 8, .bottom = 20}});
  EXPECT_EQ(train.images.sizes(), (std::vector<std::int64_t>{1, 3, 20, 8}));
  EXPECT_LT(train.images.max().item<int>(), 20);
}

TEST(CsvFolder, ReadsLabelsAndTheCsvItself) {
  const TemporaryFolder folder;
  testing::write_csv_folder(folder.path());
  for (const auto& path : {folder.path(), folder / "labels.csv"}) {
    const Dataset all = load_dataset(path, {.split = Split::all});
    EXPECT_THAT(numbers(all), ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(all.labels.flatten(), TensorNear(torch::tensor({0.f, 1.f, 0.f, 1.f}), 0));
  }
}

TEST(CsvFolder, ASplitColumnDecides) {
  const TemporaryFolder folder;
  testing::write_csv_folder(folder.path());
  testing::write_file(folder / "labels.csv",
                      "\xEF\xBB\xBF"
                      "file,split,Happy\r\n\"0.png\",val,0\r\n1.png, train ,1\r\n2.png,val,1\r\n");
  const Dataset val = load_dataset(folder.path(), {.split = Split::val});
  EXPECT_THAT(numbers(val), ElementsAre(0, 2));
  EXPECT_THAT(val.labels.flatten(), TensorNear(torch::tensor({0.f, 1.f}), 0));
  EXPECT_EQ(val.split_rule, "the split column of labels.csv");
}

TEST(CsvFolder, SeveralCsvsAreAQuestion) {
  const TemporaryFolder folder;
  testing::write_csv_folder(folder.path());
  testing::write_file(folder / "more.csv", "file,A\n0.png,1\n");
  EXPECT_THAT(testing::refusal([&] { load_dataset(folder.path()); }),
              HasSubstr("got labels.csv and more.csv"));
  EXPECT_EQ(load_dataset(folder / "more.csv", {.split = Split::all}).size(), 1);
}

TEST(Folder, WithoutCsvHasImagesAndNoAttributes) {
  const TemporaryFolder folder;
  testing::put_image(folder / "a/1.png", testing::numbered_image(1));
  testing::put_image(folder / "b/2.webp", testing::numbered_image(2));
  const Dataset all = load_dataset(folder.path(), {.split = Split::all});
  EXPECT_THAT(numbers(all), ElementsAre(1, 2));
  EXPECT_EQ(all.labels.sizes(), (std::vector<std::int64_t>{2, 0}));
}

TEST(Folder, ImagesOfSeveralSizesNeedOne) {
  const TemporaryFolder folder;
  testing::put_image(folder / "1.png", testing::numbered_image(1, 8, 8));
  testing::put_image(folder / "2.png", testing::numbered_image(2, 20, 12));
  EXPECT_THAT(testing::refusal([&] { load_dataset(folder.path(), {.split = Split::all}); }),
              HasSubstr("2.png: expected [3, 8, 8] as the first image, got [3, 20, 12]"));
  const Dataset all = load_dataset(folder.path(), {.split = Split::all, .size = 6, .channels = 1});
  EXPECT_EQ(all.images.sizes(), (std::vector<std::int64_t>{2, 1, 6, 6}));
  EXPECT_THAT(numbers(all), ElementsAre(1, 2));
}

std::string idx(const std::vector<std::uint32_t>& sizes, const std::string& data) {
  std::string file = {0, 0, 8, char(sizes.size())};
  for (const auto size : sizes) {
    for (int shift = 24; shift >= 0; shift -= 8) file += char(size >> shift);
  }
  return file + data;
}

TEST(Idx, IsPaddedInTheMiddleAndSplit) {
  const TemporaryFolder folder;
  testing::write_file(folder / "train-images-idx3-ubyte",
                      idx({5002, 28, 28}, std::string(5002 * 28 * 28, '\x07')));
  testing::write_file(folder / "train-labels-idx1-ubyte", idx({5002}, std::string(5002, '\x03')));
  const Dataset train = load_dataset(folder.path());
  EXPECT_EQ(train.images.sizes(), (std::vector<std::int64_t>{2, 1, 32, 32}));
  EXPECT_TRUE(train.images.slice(2, 2, 30).slice(3, 2, 30).eq(7).all().item<bool>());
  EXPECT_EQ(train.images.sum().item<std::int64_t>(), 2 * 28 * 28 * 7);
  EXPECT_THAT(train.labels, TensorNear(torch::tensor({3, 3}), 0));
  EXPECT_FALSE(train.multi_label);
  EXPECT_EQ(load_dataset(folder.path(), {.split = Split::val}).size(), 5000);
  EXPECT_THAT(testing::refusal([&] { load_dataset(folder.path(), {.split = Split::test}); }),
              HasSubstr("expected t10k-images-idx3-ubyte (or .gz), got nothing there"));
}

TEST(Idx, DamagedFilesAreNamed) {
  const TemporaryFolder folder;
  testing::write_file(folder / "t10k-images-idx3-ubyte", idx({2, 28, 28}, std::string(100, 'x')));
  testing::write_file(folder / "t10k-labels-idx1-ubyte", idx({2}, "\x01\x02"));
  EXPECT_THAT(testing::refusal([&] { load_dataset(folder.path(), {.split = Split::test}); }),
              HasSubstr("t10k-images-idx3-ubyte: expected 1568 bytes of data, got 100"));
  testing::write_file(folder / "t10k-images-idx3-ubyte", "\x1f\x8b nothing");
  EXPECT_THAT(testing::refusal([&] { load_dataset(folder.path(), {.split = Split::test}); }),
              HasSubstr("a whole gzip file"));
}

TEST(Summary, CountsAndRatesAgreeWithTheData) {
  const TemporaryFolder folder;
  testing::write_celeba_hq(folder.path(), true);
  const Summary summary = summarize(folder.path(), /*skip_bad=*/false);
  EXPECT_EQ(summary.images(), 10);
  for (const Split split : {Split::train, Split::val, Split::test}) {
    const Dataset dataset = load_dataset(folder.path(), {.split = split});
    const auto& part = summary.parts[static_cast<std::size_t>(split)];
    EXPECT_EQ(part.images, dataset.size());
    EXPECT_THAT(torch::tensor(part.rates), TensorNear(dataset.labels.mean(0), 1e-6));
  }
  EXPECT_THAT(summary.smallest, ElementsAre(8, 8));
}

TEST(Paths, NothingThereIsAnError) {
  EXPECT_THAT(testing::refusal([] { load_dataset("no/such/place"); }),
              HasSubstr("no/such/place: expected a data set"));
}

// A photo that its EXIF orientation turns is a view of the decoded one.
TEST(Folder, TurnedPhotosAreCopiedAsTheyLook) {
  const TemporaryFolder folder;
  auto stored = torch::zeros({3, 16, 16}, torch::kUInt8);
  stored.slice(1, 0, 8).fill_(220);   // the upper half is bright
  const auto upright = encode_image(stored, ".jpg");
  for (const int orientation : {6, 8}) {
    // Behind the start marker: APP1, "Exif", big-endian TIFF with one entry, the orientation.
    const std::vector<std::uint8_t> exif = {0xFF, 0xE1, 0, 34, 'E', 'x', 'i', 'f', 0, 0, 'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1,
                                            1, 0x12, 0, 3, 0, 0, 0, 1, 0, static_cast<std::uint8_t>(orientation), 0, 0, 0, 0, 0, 0};
    std::vector<std::uint8_t> file(upright.begin(), upright.begin() + 2);
    file.insert(file.end(), exif.begin(), exif.end());
    file.insert(file.end(), upright.begin() + 2, upright.end());
    testing::write_file(folder / fmt::format("{}.jpg", orientation), {reinterpret_cast<const char*>(file.data()), file.size()});
  }
  const auto set = load_dataset(folder.path(), {.split = Split::all});
  ASSERT_EQ(set.size(), 2);
  for (std::int64_t i = 0; i < 2; ++i) {   // 6 is turned to the right, 8 to the left: the bright half is a side
    const auto bright = set.images[i].to(torch::kFloat32).mean(0);
    const auto right = bright.slice(1, 8, 16).mean().item<float>(), left = bright.slice(1, 0, 8).mean().item<float>();
    EXPECT_GT(i == 0 ? right - left : left - right, 150) << i;
  }
}

}  // namespace
}  // namespace spnn
