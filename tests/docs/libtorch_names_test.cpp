#include <gtest/gtest.h>
#include <spnn/core/config.h>

#include <filesystem>
#include <regex>

namespace spnn {
namespace {

// libtorch 2.x cannot be installed here. Names of 1.13 that it takes away or changes are at least not used; HACKING.md has the list of
// what was compared with the declarations of 2.x.
TEST(Libtorch, NamesThatVersion2TakesAwayAreNotUsed) {
  const std::regex gone(R"(c10::(optional|nullopt|in_place|make_optional|string_view|guts|variant|either)\b|\bC10_(UNUSED|NODISCARD)\b|c10d::(TCPStore|FileStore|HashStore)\b|torch::(symeig|lstsq|qr|solve|matrix_rank|eig)\()");
  const std::filesystem::path root = SPNN_SOURCE_DIR;
  int files = 0;
  for (const auto* folder : {"src", "apps", "bench", "examples", "python", "tests"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      const auto extension = entry.path().extension();
      if ((extension != ".h" && extension != ".cpp") || entry.path().filename() == "libtorch_names_test.cpp") continue;
      const auto text = read_text(entry.path());
      for (std::sregex_iterator it(text.begin(), text.end(), gone), end; it != end; ++it) ADD_FAILURE() << entry.path().string() << ": " << it->str();
      ++files;
    }
  }
  EXPECT_GT(files, 400);
}

}  // namespace
}  // namespace spnn
