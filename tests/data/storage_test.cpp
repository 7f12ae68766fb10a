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

}  // namespace
}  // namespace spnn
