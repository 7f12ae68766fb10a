// Every call of the system that a writer makes, failing at every place: the old file or the new one, whole, and nothing else.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spnn/checkpoint/checkpoint.h>
#include <spnn/core/errors.h>
#include <spnn/core/io.h>

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

}  // namespace
}  // namespace spnn
