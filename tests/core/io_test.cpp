#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spnn/core/config.h>
#include <spnn/core/io.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "support/damage.h"
#include "support/temporary.h"

namespace spnn {
namespace {

using testing::refusal;
using testing::TemporaryFolder;
using ::testing::HasSubstr;

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

mode_t mode_of(const std::filesystem::path& file) {
  struct stat status {};
  lstat(file.c_str(), &status);
  return status.st_mode;
}

TEST(OutputFile, ReplacesOnCommitOnlyAndLeavesNothingBeside) {
  const TemporaryFolder folder;
  write_atomically(folder / "f", "old");
  {
    OutputFile out(folder / "f");
    out.write(std::as_bytes(std::span("new", 3)));
    EXPECT_EQ(testing::file_text(folder / "f"), "old");
  }
  EXPECT_EQ(testing::file_text(folder / "f"), "old");
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"f"});
  write_atomically(folder / "f", "new");
  EXPECT_EQ(testing::file_text(folder / "f"), "new");
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"f"});
}

TEST(OutputFile, KeepsTheModeOfAFileAndObeysTheUmaskForANewOne) {
  const TemporaryFolder folder;
  const auto before = umask(027);
  write_atomically(folder / "new", "x");
  umask(before);
  EXPECT_EQ(mode_of(folder / "new") & 07777U, 0640U);
  chmod((folder / "new").c_str(), 0604);
  write_atomically(folder / "new", "y");
  EXPECT_EQ(mode_of(folder / "new") & 07777U, 0604U);
}

TEST(OutputFile, WritesToDevicesAndPipesAndNeverReplacesThem) {
  const TemporaryFolder folder;
  write_atomically("/dev/null", "x");
  EXPECT_TRUE(S_ISCHR(mode_of("/dev/null")));
  EXPECT_THAT(refusal([] { write_atomically("/dev/full", "x"); }), HasSubstr("/dev/full: expected a writable place, got 'No space"));
  const auto pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(refusal([&] { write_atomically(pipe, "x"); }), HasSubstr("expected a writable place"));   // nobody reads: no waiting
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  write_atomically(pipe, "through");
  char text[16] = {};
  EXPECT_EQ(read(reader, text, sizeof text), 7);
  close(reader);
  EXPECT_TRUE(S_ISFIFO(mode_of(pipe)));
}

TEST(OutputFile, ALinkStaysALink) {
  const TemporaryFolder folder;
  write_atomically(folder / "real", "old");
  std::filesystem::create_symlink(folder / "real", folder / "link");
  write_atomically(folder / "link", "new");
  EXPECT_TRUE(S_ISLNK(mode_of(folder / "link")));
  EXPECT_EQ(testing::file_text(folder / "real"), "new");
}

TEST(OutputFile, SaysWhyAndRemovesWhatItBegan) {
  const TemporaryFolder folder;
  EXPECT_THAT(refusal([&] { write_atomically(folder / "none/f", "x"); }), HasSubstr("'No such file or directory'"));
  EXPECT_THAT(refusal([&] { write_atomically(folder.path(), "x"); }), HasSubstr("expected a file to write, got a directory"));
  write_atomically(folder / "f", "old");
  const rlimit before = [] { rlimit l; getrlimit(RLIMIT_FSIZE, &l); return l; }();
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THAT(refusal([&] { write_atomically(folder / "f", std::string(5000, 'x')); }), HasSubstr("'File too large' when writing"));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(testing::file_text(folder / "f"), "old");
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"f"});
}

TEST(OutputFile, RemovesWhatKilledProcessesLeftButNotWhatIsBeingWritten) {
  const TemporaryFolder folder;
  const auto old = folder / ".spnn-0123456789abcdef.part", held = folder / ".spnn-fedcba9876543210.part";
  for (const auto& file : {old, held}) {
    testing::write_file(file, "half");
    std::filesystem::last_write_time(file, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  }
  const int writer = open(held.c_str(), O_WRONLY);
  flock(writer, LOCK_EX);
  write_atomically(folder / "f", "x");
  EXPECT_FALSE(std::filesystem::exists(old));
  EXPECT_TRUE(std::filesystem::exists(held));
  close(writer);
}

// kill -9 at any moment of writing: the old content or a new one, whole, and nothing beside it in the end.
TEST(OutputFile, KilledAtAnyMomentLeavesOneWholeFile) {
  const TemporaryFolder folder;
  const auto file = folder / "f";
  write_atomically(file, std::string(300'000, '0'));
  for (int k = 0; k < 300; ++k) {
    const pid_t child = fork();
    if (child == 0) {
      for (char c = 'a';; c = c == 'z' ? 'a' : static_cast<char>(c + 1)) write_atomically(file, std::string(300'000, c));
    }
    usleep(static_cast<useconds_t>(500 + 137 * k % 5000));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const auto text = testing::file_text(file);
    ASSERT_EQ(text, std::string(300'000, text[0])) << k;
  }
  for (const auto& name : names_in(folder.path())) EXPECT_TRUE(name == "f" || name.starts_with(".spnn-")) << name;
}

TEST(RequireWritable, TriesBeforeTheWork) {
  const TemporaryFolder folder;
  EXPECT_EQ(refusal([&] { require_writable(folder / "f"); }), "");
  EXPECT_TRUE(names_in(folder.path()).empty());
  EXPECT_THAT(refusal([&] { require_writable(folder / "none/f"); }), HasSubstr("No such file"));
}

TEST(InputFile, RefusesWhatIsNoFileWithoutWaiting) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(refusal([&] { InputFile(folder / "pipe"); }), HasSubstr("expected a readable file, got a pipe"));
  EXPECT_THAT(refusal([&] { InputFile("/dev/zero"); }), HasSubstr("got a device"));
  EXPECT_THAT(refusal([&] { InputFile(folder.path()); }), HasSubstr("got a directory"));
  EXPECT_THAT(refusal([&] { InputFile(folder / "none"); }), HasSubstr("got nothing there"));
}

TEST(InputFile, AFileThatShrinksIsAnErrorAndNoSignal) {
  const TemporaryFolder folder;
  testing::write_file(folder / "f", std::string(100'000, 'x'));
  const InputFile in(folder / "f");
  std::filesystem::resize_file(folder / "f", 5000);
  std::vector<std::byte> all(100'000);
  EXPECT_THAT(refusal([&] { in.read(0, all); }), HasSubstr("one that ends at 5000"));
}

TEST(FileContent, RefusesWhatIsTooLargeBeforeItAsksForMemory) {
  const TemporaryFolder folder;
  testing::write_file(folder / "f", "");
  std::filesystem::resize_file(folder / "f", std::uintmax_t{1} << 40);   // sparse
  EXPECT_THAT(refusal([&] { read_text(folder / "f"); }), HasSubstr("expected a file of at most"));
  EXPECT_THAT(refusal([&] { FileContent(folder / "f", 1000); }), HasSubstr("at most 1000 bytes"));
}

TEST(AppendToFile, AddsWholeTextsOrNothing) {
  const TemporaryFolder folder;
  append_to_file(folder / "f", "one\n");
  append_to_file(folder / "f", "two\n");
  EXPECT_EQ(testing::file_text(folder / "f"), "one\ntwo\n");
  const rlimit before = [] { rlimit l; getrlimit(RLIMIT_FSIZE, &l); return l; }();
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{20, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THAT(refusal([&] { append_to_file(folder / "f", std::string(50, 'x')); }), HasSubstr("File too large"));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(testing::file_text(folder / "f"), "one\ntwo\n");
}

TEST(KeepAs, IsASecondNameThatSurvivesTheReplacementOfTheFirst) {
  const TemporaryFolder folder;
  write_atomically(folder / "state", "1");
  keep_as(folder / "state", folder / "previous");
  keep_as(folder / "state", folder / "previous");   // already the same file
  write_atomically(folder / "state", "2");
  EXPECT_EQ(testing::file_text(folder / "previous"), "1");
  EXPECT_EQ(names_in(folder.path()), (std::vector<std::string>{"previous", "state"}));
}

TEST(FileLock, IsHeldByOneAndGivenBack) {
  const TemporaryFolder folder;
  {
    const FileLock lock(folder / "lock", "here", "nobody");
    EXPECT_THAT(refusal([&] { FileLock(folder / "lock", "here", "nobody"); }),
                HasSubstr(fmt::format("here: expected nobody, got process {} at work in it", getpid())));
  }
  EXPECT_EQ(refusal([&] { FileLock(folder / "lock", "here", "nobody"); }), "");
}

}  // namespace
}  // namespace spnn
