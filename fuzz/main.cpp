// spnn_fuzz TARGET [--seconds S] [--seed N] [--keep FOLDER] [FILE or FOLDER …]
// Reads every file once, then mutates what leads to new places until the time is over. A finding is written to
// finding-TARGET-… in the current folder and ends the program with a code other than 0; giving that file reads it again.
// spnn_fuzz --list names the targets, spnn_fuzz --seeds FOLDER writes pictures to begin with (make_corpus.py the rest).

#include <sanitizer/asan_interface.h>
#include <spnn/core/errors.h>

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "mutate.h"

namespace spnn::fuzz {

const std::vector<Target>& targets() {
  static const auto all = [] {
    std::vector<Target> list;
    add_model_targets(list);
    add_image_targets(list);
    add_data_targets(list);
    add_text_targets(list);
    add_studio_target(list);
    return list;
  }();
  return all;
}

namespace {

constexpr unsigned kLongestSeconds = 10;      // of one input
constexpr long kMostMegabytes = 1500;         // sanitizers take two to three times what a reader does

Input current;
std::string current_target;

void write_finding() {
  std::size_t hash = 14695981039346656037ULL;
  for (const auto byte : current) hash = (hash ^ byte) * 1099511628211ULL;
  char name[200];
  std::snprintf(name, sizeof name, "finding-%s-%016zx", current_target.c_str(), hash);
  if (auto* file = std::fopen(name, "wb")) {
    std::fwrite(current.data(), 1, current.size(), file);
    std::fclose(file);
  }
  std::fprintf(stderr, "finding: %s, %zu bytes\n", name, current.size());
}

[[noreturn]] void found(const char* what) {
  std::fprintf(stderr, "%s: %s\n", current_target.c_str(), what);
  write_finding();
  _exit(1);
}

struct Options {
  const Target* target = nullptr;
  double seconds = 0;
  std::uint64_t seed = 1;
  std::filesystem::path keep = {};
  std::vector<std::filesystem::path> places = {};
};

class Fuzzing {
 public:
  explicit Fuzzing(Options options) : options_(std::move(options)), target_(*options_.target), random_(options_.seed) {
    current_target = target_.name;
    __asan_set_death_callback(write_finding);
    std::signal(SIGALRM, [](int) { found("no answer in time"); });
  }

  void run() {
    const auto began = std::chrono::steady_clock::now();
    const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count(); };
    for (const auto& place : options_.places) read_all(place);
    const auto files = runs_;
    if (corpus_.empty()) corpus_.push_back({});
    while (elapsed() < options_.seconds) {
      alarm(kLongestSeconds);
      for (int k = 0; k < 64; ++k) {
        auto input = mutated(corpus_[pick()], corpus_[random_() % corpus_.size()], target_, random_);
        if (read(input)) keep(std::move(input));
      }
    }
    alarm(0);
    std::printf("%-12s %6zu files, %10llu executions in %.0f s, %5.1f %% accepted, %zu places, %zu inputs\n", target_.name.c_str(),
                files, static_cast<unsigned long long>(runs_), elapsed(), 100.0 * static_cast<double>(accepted_) / static_cast<double>(std::max<std::size_t>(runs_, 1)),
                Coverage::places(), corpus_.size());
  }

 private:
  void read_all(const std::filesystem::path& place) {
    if (std::filesystem::is_directory(place)) {
      std::vector<std::filesystem::path> files;
      for (const auto& entry : std::filesystem::directory_iterator(place)) files.push_back(entry.path());
      std::sort(files.begin(), files.end());
      for (const auto& file : files) read_all(file);
      return;
    }
    std::ifstream in(place, std::ios::binary);
    Input input((std::istreambuf_iterator<char>(in)), {});
    alarm(kLongestSeconds);
    read(input);
    corpus_.push_back(std::move(input));
  }

  // Newer inputs are tried more often: they have been tried less. Three times in four the shorter of two: a run costs as
  // much as its input is long, and one byte of a short input is more likely one that matters.
  std::size_t pick() {
    const auto one = [&] { return random_() % 2 ? corpus_.size() - 1 - random_() % std::min<std::size_t>(corpus_.size(), 32) : random_() % corpus_.size(); };
    const auto first = one(), second = one();
    if (random_() % 4 == 0) return first;
    return corpus_[first].size() <= corpus_[second].size() ? first : second;
  }

  // True if it went where none went before.
  bool read(const Input& input) {
    current = input;
    ++runs_;
    Coverage::start();
    try {
      target_.read(current);
      ++accepted_;
    } catch (const Error&) {
    } catch (const std::exception& error) {
      found((std::string("an exception that is no Error: ") + error.what()).c_str());
    }
    const bool fresh = Coverage::stop_and_see_new();
    if (runs_ % 256 == 0) {
      rusage used{};
      getrusage(RUSAGE_SELF, &used);
      if (used.ru_maxrss / 1024 > kMostMegabytes) found("too much memory");
    }
    return fresh;
  }

  void keep(Input input) {
    if (!options_.keep.empty()) {
      std::ofstream out(options_.keep / (target_.name + "-" + std::to_string(options_.seed) + "-" + std::to_string(corpus_.size())), std::ios::binary);
      out.write(reinterpret_cast<const char*>(input.data()), static_cast<std::streamsize>(input.size()));
    }
    corpus_.push_back(std::move(input));
  }

  Options options_;
  const Target& target_;
  std::mt19937_64 random_;
  std::vector<Input> corpus_;
  std::size_t runs_ = 0, accepted_ = 0;
};

int usage() {
  std::fprintf(stderr, "spnn_fuzz TARGET [--seconds S] [--seed N] [--keep FOLDER] [FILE or FOLDER …]\ntargets:");
  for (const auto& target : targets()) std::fprintf(stderr, " %s", target.name.c_str());
  std::fprintf(stderr, "\n");
  return 2;
}

int main(const std::vector<std::string>& words) {
  if (words.size() == 1 && words[0] == "--list") {
    for (const auto& target : targets()) std::puts(target.name.c_str());
    return 0;
  }
  if (words.size() == 2 && words[0] == "--seeds") {
    write_picture_seeds(words[1]);
    return 0;
  }
  Options options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool more = i + 1 < words.size();
    if (i == 0) {
      for (const auto& target : targets()) options.target = target.name == words[0] ? &target : options.target;
      if (!options.target) return usage();
    } else if (words[i] == "--seconds" && more) options.seconds = std::stod(words[++i]);
    else if (words[i] == "--seed" && more) options.seed = std::stoull(words[++i]);
    else if (words[i] == "--keep" && more) options.keep = words[++i];
    else options.places.emplace_back(words[i]);
  }
  if (!options.target) return usage();
  Fuzzing(options).run();
  return 0;
}

}  // namespace
}  // namespace spnn::fuzz

int main(int argc, char** argv) { return spnn::fuzz::main({argv + 1, argv + argc}); }

// Leaks of a reader that throws would be findings; libtorch's own singletons are none, and the check at the end costs seconds.
extern "C" const char* __asan_default_options() { return "detect_leaks=0:malloc_context_size=6:quarantine_size_mb=32:max_allocation_size_mb=600:allocator_may_return_null=0:detect_stack_use_after_return=0:handle_abort=1"; }
extern "C" const char* __ubsan_default_options() { return "print_stacktrace=1"; }
