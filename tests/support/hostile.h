#pragma once

// What a hostile file costs its reader: run in a child process, so that a crash, a hang or gigabytes are a result and not
// the end of the tests.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <ATen/Parallel.h>
#include <spnn/core/errors.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <string>

namespace spnn::testing {

struct Cost {
  bool ended = false;       // by itself, with an Error or with success
  double seconds = 0;       // of a processor: a busy machine is not the file's fault; what waits for ever is ended by alarm
  double megabytes = 0;     // of memory more at the peak than before
  std::string text;         // of the Error; "" when the file was accepted
};

inline double memory_line(const std::string& key) {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(key)) return std::atof(line.c_str() + key.size()) / 1024;
  }
  return 0;
}

inline Cost cost_of(const std::function<void()>& read) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    at::set_num_threads(1);   // OpenMP's threads do not survive a fork: the child would wait for them
    alarm(120);
    std::ofstream("/proc/self/clear_refs") << "5";   // forgets the peak so far
    const double before = memory_line("VmRSS:");
    std::string text;
    try {
      read();
    } catch (const Error& error) {
      text = error.what();
    } catch (const std::exception& error) {
      text = std::string("not an Error: ") + error.what();
    }
    const auto report = fmt::format("{:.1f} {}", memory_line("VmHWM:") - before, text);
    const auto written = write(ends[1], report.data(), std::min<std::size_t>(report.size(), 4000));
    _exit(written > 0 ? 0 : 1);
  }
  close(ends[1]);
  char buffer[4096] = {};
  const auto count = ::read(ends[0], buffer, sizeof buffer - 1);
  close(ends[0]);
  int status = 0;
  rusage used{};
  wait4(child, &status, 0, &used);
  Cost cost;
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); };
  cost.seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
  cost.ended = WIFEXITED(status) && WEXITSTATUS(status) == 0 && count > 0;
  const std::string report(buffer, count > 0 ? static_cast<std::size_t>(count) : 0);
  cost.megabytes = std::atof(report.c_str());
  cost.text = report.substr(std::min(report.size(), report.find(' ') + 1));
  return cost;
}

// Law: no crash, no hang, memory below 512 MB or four times the file, and a sentence that holds `expected`.
// Prints one row of the table of hostile files.
inline void expect_harmless(const std::string& name, std::size_t file_size, const std::string& expected,
                            const std::function<void()>& read) {
  const auto cost = cost_of(read);
  std::printf("[ hostile  ] %-44s %10zu bytes  %6.2f s  %7.1f MB  %.90s\n", name.c_str(), file_size, cost.seconds,
              cost.megabytes, cost.text.c_str());
  EXPECT_TRUE(cost.ended) << name << ": crashed or hung";
  EXPECT_LT(cost.seconds, 5) << name;
  EXPECT_LT(cost.megabytes, std::max(512.0, 4e-6 * static_cast<double>(file_size))) << name;
  EXPECT_THAT(cost.text, ::testing::HasSubstr(expected)) << name;
  EXPECT_LT(cost.text.size(), 2000U) << name;
}

}  // namespace spnn::testing
