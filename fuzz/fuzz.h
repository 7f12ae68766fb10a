#pragma once

// A reader that is fuzzed, and the loop that does it.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace spnn::fuzz {

using Input = std::vector<std::uint8_t>;
using View = std::span<const std::uint8_t>;

struct Target {
  std::string name;
  std::function<void(View)> read;             // an spnn::Error is an answer; anything else that leaves it is a finding
  std::function<void(Input&)> repair = {};    // checksums and lengths set right, so that a mutation gets past them
  std::vector<std::string> words = {};        // what the format is made of
  std::size_t longest = 4096;
};

const std::vector<Target>& targets();

// Fills the targets' list; one function per file of targets.
void add_model_targets(std::vector<Target>& all);
void add_image_targets(std::vector<Target>& all);
void add_data_targets(std::vector<Target>& all);
void add_text_targets(std::vector<Target>& all);
void add_studio_target(std::vector<Target>& all);

void write_picture_seeds(const std::filesystem::path& folder);

// The places of the program that the last run passed and no run before it. Counted only between start and stop, on one thread.
class Coverage {
 public:
  static void start();
  static bool stop_and_see_new();
  static std::size_t places();
};

}  // namespace spnn::fuzz
