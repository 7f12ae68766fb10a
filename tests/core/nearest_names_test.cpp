#include <gtest/gtest.h>
#include <spnn/core/nearest_names.h>

namespace spnn {
namespace {

TEST(NearestNames, PutsTheTypoFirst) {
  const std::vector<std::string> names = {"Male", "Smiling", "Eyeglasses", "Bald", "Bangs"};
  EXPECT_EQ(nearest_names("smilling", names, 1), (std::vector<std::string>{"Smiling"}));
  EXPECT_EQ(nearest_names("eye_glasses", names, 1), (std::vector<std::string>{"Eyeglasses"}));
  EXPECT_EQ(nearest_names("Bal", names, 2).front(), "Bald");
  EXPECT_EQ(nearest_names("x", names, 9).size(), names.size());
}

}  // namespace
}  // namespace spnn
