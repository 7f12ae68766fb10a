#include <gtest/gtest.h>
#include <spnn/core/config.h>
#include <spnn/core/errors.h>
#include <spnn/data/dataset.h>
#include <spnn/data/file_source.h>
#include <spnn/data/table.h>

#include "data/sample_sets.h"
#include "support/damage.h"
#include "support/tensor_near.h"

namespace spnn {
namespace {

using ::testing::ElementsAre;
using testing::TemporaryFolder;
using testing::TensorNear;

TEST(Tar, ReadsLongNamesOfBothKinds) {
  const std::string name(150, 'n');
  for (const bool pax : {false, true}) {
    const TemporaryFolder folder;
    testing::write_file(folder / "x.tar",
                        testing::make_tar({{name, "long"}, {"short", "brief"}, {"empty", ""}}, pax));
    const auto source = open_source(folder / "x.tar");
    EXPECT_THAT(source->files(), ElementsAre("empty", name, "short"));
    EXPECT_EQ(source->read(name).text(), "long");
    EXPECT_EQ(source->read("short").text(), "brief");
    EXPECT_EQ(source->read("empty").text(), "");
    EXPECT_THROW(source->read("absent"), Error);
  }
}

TEST(Tar, OfTheSystemsToolReadsTheSame) {
  const TemporaryFolder folder;
  testing::put(folder / "set/a/b.txt", "hello");
  const auto command = fmt::format("tar -C '{}' -cf '{}' set 2>/dev/null", folder.path().string(),
                                   (folder / "x.tar").string());
  if (std::system(command.c_str()) != 0) GTEST_SKIP() << "no tar command";
  const auto source = open_source(folder / "x.tar");
  EXPECT_THAT(source->files(), ElementsAre("set/a/b.txt"));
  EXPECT_EQ(source->read("set/a/b.txt").text(), "hello");
}

TEST(Tar, DamagedBytesNeverCrash) {
  const TemporaryFolder folder;
  const std::string tar = testing::make_tar({{"a", std::string(600, 'a')}, {std::string(120, 'b'), "bb"}});
  const auto read = [&](std::span<const std::byte> bytes) {
    testing::write_file(folder / "x.tar", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    const auto source = open_source(folder / "x.tar");
    for (const auto& file : source->files()) source->read(file);
  };
  EXPECT_GT(testing::refused_flips(read, std::as_bytes(std::span(tar)), /*trials=*/200, /*seed=*/2), 0);
}

TEST(FileSource, FindsTheNearestToTheRoot) {
  const TemporaryFolder folder;
  testing::put(folder / "a/deep/list.txt", "");
  testing::put(folder / "z/list.txt", "");
  testing::put(folder / "other_list.txt", "");
  const auto source = open_source(folder.path());
  EXPECT_EQ(source->find("list.txt"), "z/list.txt");
  EXPECT_EQ(source->find("none.txt"), std::nullopt);
}

TEST(Table, CsvCellsMayBeQuoted) {
  const auto rows = read_rows("a,\"b, \"\"c\"\"\", d \n\n ,e\r\n", Separator::comma);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_THAT(rows[0].cells, ElementsAre("a", "b, \"c\"", "d"));
  EXPECT_EQ(rows[1].line, 3);
  EXPECT_THAT(rows[1].cells, ElementsAre("", "e"));
}

TEST(Cache, GivesTheSameDataWithoutTheImages) {
  const TemporaryFolder folder;
  testing::write_celeba_hq(folder / "set", true);
  testing::write_file(folder / "set.tar", testing::tar_of(folder / "set", ""));
  const LoadOptions options{.size = 16, .cache_file = folder / "cache"};
  const Dataset fresh = load_dataset(folder / "set.tar", options);
  ASSERT_TRUE(std::filesystem::exists(folder / "cache"));

  // Same size and time, other pixels: what comes back is the cache's.
  const auto time = std::filesystem::last_write_time(folder / "set.tar");
  testing::write_file(folder / "set.tar", std::string(std::filesystem::file_size(folder / "set.tar"), '\0'));
  std::filesystem::last_write_time(folder / "set.tar", time);
  const Dataset cached = load_dataset(folder / "set.tar", options);
  EXPECT_THAT(cached.images, TensorNear(fresh.images, 0));
  EXPECT_THAT(cached.labels, TensorNear(fresh.labels, 0));
  EXPECT_EQ(cached.files, fresh.files);
  EXPECT_EQ(cached.split_rule, fresh.split_rule);
  EXPECT_EQ(cached.attributes, fresh.attributes);
}

TEST(Cache, IsNotUsedForOtherOptionsOrChangedFiles) {
  const TemporaryFolder folder;
  testing::write_csv_folder(folder / "set");
  const auto cache = folder / "set/cache";  // beside the images, as a user may put it
  const auto load = [&](std::int64_t size) {
    return load_dataset(folder / "set", {.size = size, .cache_file = cache});
  };
  EXPECT_EQ(load(8).images.size(3), 8);
  EXPECT_EQ(load(4).images.size(3), 4);
  const Dataset before = load(4);
  testing::put_image(folder / "set/0.png", testing::numbered_image(20, 9, 9));
  EXPECT_EQ(load(4).images[0].max().item<int>(), 200);
  EXPECT_EQ(before.images[0].max().item<int>(), 0);  // the map of the old file stays valid
}

TEST(Cache, ADamagedOneIsReplaced) {
  const TemporaryFolder folder;
  testing::write_csv_folder(folder / "set");
  const LoadOptions options{.split = Split::all, .cache_file = folder / "cache"};
  const Dataset fresh = load_dataset(folder / "set", options);
  const std::string good = read_text(folder / "cache");
  for (std::size_t length = 0; length < good.size(); length += 97) {
    testing::write_file(folder / "cache", good.substr(0, length));
    EXPECT_THAT(load_dataset(folder / "set", options).images, TensorNear(fresh.images, 0)) << length;
  }
}

}  // namespace
}  // namespace spnn
