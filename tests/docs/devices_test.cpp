#include <gtest/gtest.h>
#include <spnn/core/config.h>

#include <filesystem>
#include <regex>
#include <set>

namespace spnn {
namespace {

// No GPU is here to try the sampling path on. What can be tested: every tensor that is made there is made with options (hence on a
// device that somebody chose), but for those that are known to stay on the CPU.
TEST(Devices, TensorsOfTheSamplingPathAreMadeWithOptions) {
  const std::set<std::string> on_the_cpu = {
      "wish.cpp: torch::tensor(all, torch::kInt64)",                                        // numbers of attributes
      "target.cpp: torch::tensor(values, torch::kInt64)",                                   // numbers of attributes, moved where they index
      "target.cpp: torch::zeros({controlled.numel(), covariance.size(0)}, torch::kFloat64)", // statistics, moved where they are used
      "target.cpp: torch::ones({all.size(0)}, torch::kBool)",
      "target.cpp: torch::tensor(goal, torch::kFloat64)",
      "photo_edit.cpp: torch::zeros({photo.size(0)}, torch::kInt64)",                       // times of photos
      "linearizer.cpp: torch::eye(d, torch::kFloat64)",                                     // a small matrix, moved where it is applied
  };
  const std::regex made(R"(torch::(zeros|ones|full|empty|arange|tensor|randn|rand|linspace|eye|scalar_tensor)\()");
  std::set<std::string> found;
  for (const auto* folder : {"diffusion", "projection", "restoration"}) {
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(SPNN_SOURCE_DIR) / "src/spnn" / folder)) {
      const auto text = read_text(entry.path());
      for (std::sregex_iterator it(text.begin(), text.end(), made), end; it != end; ++it) {
        auto at = static_cast<std::size_t>(it->position() + it->length());
        for (int depth = 1; depth > 0 && at < text.size(); ++at) depth += (text[at] == '(') - (text[at] == ')');
        const auto call = text.substr(static_cast<std::size_t>(it->position()), at - static_cast<std::size_t>(it->position()));
        const auto line = text.substr(at, text.find('\n', at) - at);
        if (call.find("options") != std::string::npos || line.find(".to(") != std::string::npos) continue;
        found.insert(entry.path().filename().string() + ": " + call);
      }
    }
  }
  for (const auto& call : found) EXPECT_TRUE(on_the_cpu.contains(call)) << call;
  for (const auto& call : on_the_cpu) EXPECT_TRUE(found.contains(call)) << "is not there any more: " << call;
}

}  // namespace
}  // namespace spnn
