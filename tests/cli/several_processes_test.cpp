#include <gmock/gmock.h>
#include <spnn/core/rng.h>
#include <spnn/image/image.h>

#include "support/command.h"
#include "support/tiny_models.h"

namespace spnn {
namespace {

using ::testing::HasSubstr;

// One command in `size` processes beside each other, as torchrun starts them; `killed` is shot after a moment. Returns what process 0 said.
testing::CommandResult in_processes(std::int64_t size, const std::string& arguments, std::int64_t killed = -1) {
  const testing::TemporaryFolder folder;
  std::string script;
  for (auto rank = size - 1; rank >= 0; --rank) {
    script += fmt::format("RANK={} WORLD_SIZE={} '{}/spnn' --threads 1 {} >'{}-{}' 2>'{}-{}' {}", rank, size, SPNN_BINARY_DIR, arguments,
                          (folder / "out").string(), rank, (folder / "err").string(), rank, rank > 0 ? "& " : "; code=$?; ");
    if (rank == killed) script += "(sleep 0.2; kill -9 $!) & ";
  }
  const int status = std::system((script + "wait; exit $code").c_str());
  return {WEXITSTATUS(status), testing::file_text(folder / "out-0"), testing::file_text(folder / "err-0")};
}

class SeveralProcesses : public ::testing::Test {
 protected:
  // Seven photos.
  std::string photos() const {
    for (int i = 0; i < 7; ++i) {
      std::filesystem::create_directories(folder / "photos");
      write_image(folder / fmt::format("photos/{}.png", i), (Rng(static_cast<std::uint64_t>(i)).uniform({1, 32, 32}) * 255).to(torch::kUInt8));
    }
    return (folder / "photos").string();
  }
  std::string at(const std::string& name) const { return (folder / name).string(); }

  void expect_equal_files(const std::string& one, const std::string& other, std::size_t count) const {
    std::size_t found = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder / one)) {
      if (!entry.is_regular_file()) continue;
      EXPECT_EQ(testing::file_text(entry.path()), testing::file_text(folder / other / entry.path().filename())) << entry.path().filename();
      ++found;
    }
    EXPECT_EQ(found, count);
  }

  testing::TinyModels models;
  testing::TemporaryFolder folder;
};

TEST_F(SeveralProcesses, DrawTheSamplesOfOne) {
  const auto draw = fmt::format("sample {} -n 5 --batch 2 --steps 3", models.file("prior"));
  ASSERT_EQ(testing::spnn_command(draw + " -o " + at("one")).exit_code, 0);
  const auto two = in_processes(2, fmt::format("{} -o {} --kept {}", draw, at("two"), at("kept")));
  ASSERT_EQ(two.exit_code, 0) << two.err;
  expect_equal_files("one", "two", 5);
}

TEST_F(SeveralProcesses, RestoreWhatOneRestoresAlsoAfterOneIsKilled) {
  const auto restore = fmt::format("restore {} --operator sr4 --noise 0.05 --batch 1 --steps 40 --prior {}", photos(), models.file("prior"));
  ASSERT_EQ(testing::spnn_command(restore + " -o " + at("one")).exit_code, 0);
  const auto three = fmt::format("{} -o {} --kept {}", restore, at("three"), at("kept"));
  const auto shot = in_processes(3, three, /*killed=*/2);
  ASSERT_EQ(shot.exit_code, 1) << shot.out;
  EXPECT_THAT(shot.err, HasSubstr("of process 2"));
  EXPECT_THAT(shot.err, HasSubstr("none: the process is gone"));
  const auto again = in_processes(3, three);
  ASSERT_EQ(again.exit_code, 0) << again.err;
  expect_equal_files("one", "three", 8);   // restored.csv is one of them
  expect_equal_files("one/measured", "three/measured", 7);
}

TEST_F(SeveralProcesses, CompareAsOneDoes) {
  const auto compare = fmt::format("compare {} --images 4 --batch 1 --steps 2 --operators sr4@0 --methods nlbp,ddrm --prior {} --judge {}", photos(),
                                   models.file("prior"), models.file("judge"));
  const auto psnrs = [&](const std::string& name) {
    const auto json = Json::parse(testing::file_text(folder / name));
    std::vector<Json> rows;
    for (const auto& row : json["rows"]) rows.push_back({row["method"], row["psnrs"], row["consistency_saved"], row["frechet"], row["evaluations"]});
    return rows;
  };
  const auto one = testing::spnn_command(fmt::format("{} -o {} --json {}", compare, at("one"), at("one.json")));
  ASSERT_EQ(one.exit_code, 0) << one.err;
  const auto two = in_processes(2, fmt::format("{} -o {} --json {} --kept {}", compare, at("two"), at("two.json"), at("kept")));
  ASSERT_EQ(two.exit_code, 0) << two.err;
  EXPECT_EQ(psnrs("one.json"), psnrs("two.json"));
}

TEST_F(SeveralProcesses, AreToldToNameAFolder) {
  const auto refused = in_processes(2, fmt::format("sample {} -n 2 --steps 2 -o {}", models.file("prior"), at("out")));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--kept"));
}

}  // namespace
}  // namespace spnn
