#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/command.h"

namespace spnn {
namespace {

using testing::spnn_command;
using ::testing::HasSubstr;

// A folder with the command and whatever library the test puts beside it.
struct Installed {
  testing::TemporaryFolder folder;
  std::filesystem::path build = SPNN_BINARY_DIR;
  std::filesystem::path bin = folder / "bin";
  Installed() {
    std::filesystem::create_directory(bin);
    std::filesystem::copy_file(build / "spnn", bin / "spnn");
  }
  testing::CommandResult inspect() const {
    const auto file = folder / "anything";
    testing::write_file(file, "anything");
    return spnn_command("inspect '" + file.string() + "'", bin.string());
  }
};

TEST(Launcher, RefusesALibraryOfAnotherBuild) {
  const Installed installed;
  auto library = testing::file_text(installed.build / "libspnn.so");
  const auto id = library.find("spnn-interface-");
  ASSERT_NE(id, std::string::npos);
  library[id + 20] = library[id + 20] == '0' ? '1' : '0';
  testing::write_file(installed.bin / "libspnn.so", library);
  const auto result = installed.inspect();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("expected a libspnn.so of the same build as the command"));
}

TEST(Launcher, SaysThatTheLibraryIsNotThere) {
  const auto result = Installed().inspect();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("expected libspnn.so beside the command"));
}

TEST(Launcher, LoadsTheLibraryBesideIt) {
  const Installed installed;
  std::filesystem::create_symlink(installed.build / "libspnn.so", installed.bin / "libspnn.so");
  EXPECT_THAT(installed.inspect().err, HasSubstr("a file of another kind"));
}

TEST(Launcher, AnswersHelpWithoutTheLibrary) {
  const Installed installed;
  EXPECT_EQ(spnn_command("--version", installed.bin.string()).exit_code, 0);
  EXPECT_EQ(spnn_command("inspect --help", installed.bin.string()).exit_code, 0);
}

}  // namespace
}  // namespace spnn
