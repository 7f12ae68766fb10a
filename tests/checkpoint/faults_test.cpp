// Every call of the system that a writer makes, failing at every place: the old file or the new one, whole, and nothing else.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spnn/checkpoint/checkpoint.h>
#include <spnn/core/errors.h>
#include <spnn/core/io.h>

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <sys/wait.h>

#include <csignal>
#include <functional>

#include "support/faults.h"
#include "support/temporary.h"

namespace spnn {
namespace {

using testing::fault;
using testing::TemporaryFolder;

TensorFile file_of(float value) { return {{{"w", torch::full({5000}, value)}}, {{"kind", "test"}}}; }

// Writes 2 over 1 with the fault armed. Returns whether the fault was reached.
bool write_with(const testing::Fault& armed, const TemporaryFolder& folder, bool must_succeed) {
  const auto file = folder / "f";
  write_safetensors(file, file_of(1));
  const auto content = file_of(2);
  fault = armed;
  std::string why;
  try {
    write_safetensors(file, content);
  } catch (const Error& error) {
    why = error.what();
  }
  const bool reached = fault.seen >= fault.at;
  fault = {};
  const auto found = read_safetensors(file).tensors.at("w")[4999].item<float>();   // whole: the checksum holds
  EXPECT_EQ(found, why.empty() ? 2 : 1) << armed.call << " at " << armed.at << ": " << why;
  if (must_succeed) EXPECT_EQ(why, "");
  if (!why.empty()) EXPECT_THAT(why, ::testing::HasSubstr("expected a writable place, got '"));
  int names = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) names += entry.exists() ? 1 : 0;
  EXPECT_EQ(names, 1) << armed.call << " at " << armed.at;
  return reached;
}

TEST(Faults, AWriterThatFailsAnywhereLeavesTheOldFile) {
  const TemporaryFolder folder;
  int cases = 0;
  for (const auto call : {"write", "fsync", "rename", "linkat", "fchmod"}) {
    for (const int error : {ENOSPC, EIO, EDQUOT}) {
      for (const bool lasts : {true, false}) {
        for (int at = 1; write_with({call, at, error, lasts}, folder, false); ++at) ++cases;
      }
    }
  }
  std::printf("[ faults   ] %d failures of write, fsync, rename, linkat and fchmod\n", cases);
  EXPECT_GT(cases, 30);
}

TEST(Faults, ShortWritesAndInterruptionsAreNoFailures) {
  const TemporaryFolder folder;
  int cases = 0;
  for (const auto call : {"write", "fsync"}) {
    for (int at = 1; write_with({call, at, EINTR, false}, folder, true); ++at) ++cases;
  }
  for (int at = 1; at < 20 && write_with({"write", at, -1, false}, folder, true); ++at) ++cases;
  for (int at = 1; at < 4 && write_with({"write", at, -1, true}, folder, true); ++at) ++cases;
  EXPECT_GT(cases, 5);
}

TEST(Faults, AShortReadIsNotTheWholeFile) {
  const TemporaryFolder folder;
  write_safetensors(folder / "f", file_of(3));
  for (const int error : {-1, EINTR}) {
    for (const bool lasts : {false, true}) {
      if (error == EINTR && lasts) continue;   // for ever
      fault = {"pread", 1, error, lasts};
      const auto read = read_safetensors(folder / "f");
      EXPECT_GE(fault.seen, 2);
      fault = {};
      EXPECT_EQ(read.tensors.at("w")[4999].item<float>(), 3);
    }
  }
  fault = {"pread", 1, EIO, true};
  EXPECT_THROW(read_safetensors(folder / "f"), Error);
  fault = {};
}

TEST(Faults, AnAppendThatFailsLeavesTheFileAsItWas) {
  const TemporaryFolder folder;
  append_to_file(folder / "f", "one\n");
  for (const auto call : {"write", "fdatasync"}) {
    fault = {call, 1, ENOSPC, true};
    EXPECT_THROW(append_to_file(folder / "f", "two\n"), Error);
    fault = {};
    EXPECT_EQ(testing::file_text(folder / "f"), "one\n");
  }
}

#ifndef __SANITIZE_ADDRESS__   // it has a malloc of its own

enum class Ended { done = 10, refused, no_memory, aborted, other };

// How `work` ends in a process of its own whose so many-th request for memory (and with `lasts` all later ones) fails;
// `aborted` is std::terminate: the destructor of nlohmann's JSON asks for memory. Any other signal is `other`. `reached` says whether so many requests were made at all.
Ended with_failing_memory(int at, bool lasts, bool& reached, const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    at::set_num_threads(1);   // OpenMP's threads do not survive a fork
    alarm(60);
    auto ended = Ended::done;
    fault = {"malloc", at, ENOMEM, lasts};
    try {
      work();
    } catch (const Error&) {
      ended = Ended::refused;
    } catch (const std::exception&) {
      ended = Ended::no_memory;   // std::bad_alloc, or libtorch's own; the command says it and ends with 1
    }
    const bool seen = fault.seen >= at;
    fault = {};
    _exit(static_cast<int>(ended) + (seen ? 0 : 100));
  }
  int status = 0;
  waitpid(child, &status, 0);
  reached = !WIFEXITED(status) || WEXITSTATUS(status) < 100;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) return Ended::aborted;
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) % 100 : 0;
  return code >= 10 && code <= 12 ? static_cast<Ended>(code) : Ended::other;
}

// Every request of a work that makes few, every so many-th of one that makes many. Returns how many were made to fail.
int each_request_fails(const std::function<void()>& work, const std::function<void(Ended, const std::string&)>& look) {
  int cases = 0;
  for (const bool lasts : {true, false}) {
    bool reached = true;
    for (int at = 1; reached; at += at < 200 ? 1 : at / 10) {
      const auto ended = with_failing_memory(at, lasts, reached, work);
      look(ended, fmt::format("request {}{}", at, lasts ? " and all later ones" : ""));
      cases += reached ? 1 : 0;
    }
  }
  return cases;
}

TEST(Faults, AWriterWithoutMemoryLeavesTheOldFileOrTheNewOne) {
  const TemporaryFolder folder;
  const auto file = folder / "f";
  const auto content = file_of(2);
  write_safetensors(file, file_of(1));
  int done = 0, aborted = 0, late = 0;
  const int cases = each_request_fails([&] { write_safetensors(file, content); }, [&](Ended ended, const std::string& which) {
    EXPECT_NE(ended, Ended::other) << which << " ended the process";
    const auto found = read_safetensors(file).tensors.at("w")[4999].item<float>();   // whole: the checksum holds
    // Success is never said of the old file. A failure after the rename is said although the new one is there.
    if (ended == Ended::done) {
      EXPECT_EQ(found, 2) << which;
    } else {
      EXPECT_TRUE(found == 1 || found == 2) << which << ": " << found;
      late += found == 2 ? 1 : 0;
    }
    done += ended == Ended::done ? 1 : 0;
    aborted += ended == Ended::aborted ? 1 : 0;
    write_safetensors(file, file_of(1));
    int names = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) names += entry.exists() ? 1 : 0;
    EXPECT_EQ(names, 1) << which;
  });
  std::printf("[ faults   ] %d failures of malloc while a model is written, %d times done all the same, %d aborted, %d times failed after the new file was there\n", cases, done, aborted, late);
  EXPECT_GT(cases, 20);
}

TEST(Faults, AReaderWithoutMemoryEndsAndSaysSo) {
  const TemporaryFolder folder;
  write_safetensors(folder / "f", file_of(1));
  const auto fixture = std::filesystem::path(SPNN_SOURCE_DIR) / "tests/fixtures/checkpoint";
  std::vector<std::filesystem::path> files = {folder / "f"};
  for (const auto& entry : std::filesystem::directory_iterator(fixture)) {
    if (entry.path().extension() == ".pth" && entry.file_size() < 100'000 && files.size() < 4) files.push_back(entry.path());
  }
  int cases = 0, aborted = 0;
  for (const auto& file : files) {
    cases += each_request_fails([&] { read_checkpoint(file); }, [&](Ended ended, const std::string& which) {
      EXPECT_NE(ended, Ended::other) << file << ": " << which << " ended the process";
      aborted += ended == Ended::aborted ? 1 : 0;
    });
  }
  std::printf("[ faults   ] %d failures of malloc while %zu models are read, %d aborted\n", cases, files.size(), aborted);
  EXPECT_GT(cases, 50);
}

#endif

}  // namespace
}  // namespace spnn
