// What the command prints and where it writes: failures are said, files do not command the terminal.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spnn/checkpoint/safetensors.h>

#include <fmt/ranges.h>

#include <sys/stat.h>

#include "../../apps/cli/without_memory.h"
#include "support/command.h"
#include "support/tiny_models.h"

namespace spnn {
namespace {

using testing::spnn_command;
using testing::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::Not;

struct Ended {
  int code = 0;
  std::string err;
};

// With standard output at a place of its own.
Ended to_place(const std::string& arguments, const std::string& place) {
  const TemporaryFolder folder;
  const int status = std::system(fmt::format("'{}/spnn' --threads 1 {} >{} 2>'{}'", SPNN_BINARY_DIR, arguments, place, (folder / "err").string()).c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, testing::file_text(folder / "err")};
}

TEST(StandardOutput, AFullDiskIsAnError) {
  for (const std::string arguments : {"--help", "operators", "verify preset:fashion --count 2"}) {
    const auto ended = to_place(arguments, "/dev/full");
    EXPECT_EQ(ended.code, 1) << arguments;
    EXPECT_THAT(ended.err, HasSubstr("expected standard output to take all of the text, got 'No space left on device'")) << arguments;
    EXPECT_EQ(to_place(arguments, "/dev/null").code, 0) << arguments;
  }
  EXPECT_EQ(to_place("operators", "&-").code, 1);   // closed
  EXPECT_EQ(to_place("no-such-command", "/dev/full").code, 2);   // what went wrong first is what the code says
}

TEST(StandardOutput, NamesAndTextsOfFilesDoNotReachTheTerminalAsCommands) {
  const TemporaryFolder folder;
  const auto hostile = folder / "a\x1b]0;owned\x07.safetensors";
  write_safetensors(hostile, {{{"w\x1b[2J", torch::ones({2})}}, {{"kind", "x\x1b[31mred"}, {"note", "\xc2\x9b" "2J"}}});
  const auto result = spnn_command(fmt::format("inspect --tensors '{}'", hostile.string()));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("red"));
  for (const auto& text : {result.out, result.err, spnn_command(fmt::format("verify '{}'", hostile.string())).err,
                           spnn_command(fmt::format("inspect '{}.none'", hostile.string())).err}) {
    for (const char* control : {"\x1b", "\x07", "\xc2\x9b"}) EXPECT_THAT(text, Not(HasSubstr(control)));
  }
}

TEST(Outputs, AreTriedBeforeTheWork) {
  const testing::TinyModels models;
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "taken.png");
  const auto sheet = spnn_command(fmt::format("sample {} -n 1000000 -o '{}'", models.file("prior"), (folder / "taken.png").string()));
  EXPECT_EQ(sheet.exit_code, 1);
  EXPECT_THAT(sheet.err, HasSubstr("taken.png: expected a file to write, got a directory"));
  const auto report = spnn_command(fmt::format("verify {} --count 4096 --json '{}'", models.file("classifier"), (folder / "none/report.json").string()));
  EXPECT_EQ(report.exit_code, 2);
  EXPECT_THAT(report.err, HasSubstr("expected a file in a folder that exists"));
}

TEST(Outputs, AnAttributeIsNotSetToWhatIsNoNumber) {
  const testing::TinyModels models;
  const auto result = spnn_command(fmt::format("edit --set Cat=nan --classifier {} --prior {} -o /dev/null/none", models.file("classifier"), models.file("prior")));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("expected NAME=1, NAME=0 or a probability between them, got 'nan'"));
}

// Commands that read a model whose weights are no numbers end with 1 and say which tensor it is.
TEST(Outputs, ModelsThatAreNotFiniteAreRefusedByEveryCommand) {
  const testing::TinyModels models;
  const TemporaryFolder folder;
  for (const std::string role : {"classifier", "prior", "judge"}) {
    auto model = read_safetensors(models.file(role));
    auto& weight = model.tensors.begin()->second;
    weight = weight.clone();
    weight.view({-1})[0] = NAN;
    write_safetensors(folder / (role + ".safetensors"), model);
  }
  const auto bad = [&](const std::string& role) { return (folder / (role + ".safetensors")).string(); };
  const auto out = (folder / "out.png").string(), photo = (folder / "photo.png").string();
  ASSERT_EQ(spnn_command(fmt::format("sample {} -n 1 --steps 1 -o '{}'", models.file("prior"), photo)).exit_code, 0);
  std::filesystem::create_directory(folder / "set");
  std::string labels = fmt::format("file,{}\n", fmt::join(models.names(), ","));
  for (int i = 0; i < 24; ++i) {   // every split has some
    const auto name = std::string(static_cast<std::size_t>(i + 1), 'a') + ".png";
    std::filesystem::copy_file(photo, folder / ("set/" + name));
    labels += fmt::format("{0},{1},{1},{1},{1},{1},{1},{1},{1},{1},{1}\n", name, i % 2);
  }
  testing::write_file(folder / "set/labels.csv", labels);
  // As every `evaluate` is called, with one of the three models bad.
  const auto evaluate = [&](const std::string& what, const std::string& role) {
    std::string text = fmt::format("evaluate {} --data '{}' -o '{}'", what, (folder / "set").string(), out);
    for (const std::string one : {"classifier", "prior", "judge"}) text += fmt::format(" --{} '{}'", one, one == role ? bad(one) : models.file(one));
    return text;
  };
  for (const auto& arguments : {evaluate("reconstruction --images 2 --steps 1", "classifier"), evaluate("reconstruction --images 2 --steps 1", "prior"),
                                evaluate("reconstruction --images 2 --steps 1", "judge"), evaluate("editing --seeds 2 --attributes Cat --steps 1", "classifier"),
                                evaluate("editing --seeds 2 --attributes Cat --steps 1", "prior"), evaluate("photos --photos 2 --attributes Cat", "classifier"),
                                fmt::format("evaluate classifier '{}' --judge '{}' --data '{}' --split train", bad("classifier"), models.file("judge"), (folder / "set").string()),
                                fmt::format("evaluate classifier '{}' --judge '{}' --data '{}' --split train", models.file("classifier"), bad("judge"), (folder / "set").string()),
                                fmt::format("evaluate prior '{}' --data '{}' --samples 2 --steps 1 --judge '{}' -o '{}'", bad("prior"), (folder / "set").string(), models.file("judge"), out),
                                fmt::format("evaluate prior '{}' --data '{}' --samples 2 --steps 1 --judge '{}' -o '{}'", models.file("prior"), (folder / "set").string(), bad("judge"), out),
                                fmt::format("project '{}' '{}' --set Cat=1 -o '{}'", bad("classifier"), photo, out),
                                fmt::format("reconstruct '{}' --classifier '{}' --prior '{}' --steps 1 -o '{}'", photo, bad("classifier"), models.file("prior"), out),
                                fmt::format("reconstruct '{}' --classifier '{}' --prior '{}' --steps 1 -o '{}'", photo, models.file("classifier"), bad("prior"), out),
                                fmt::format("sample '{}' -n 1 --steps 1 -o '{}'", bad("prior"), out), fmt::format("verify '{}' --count 2", bad("classifier")),
                                fmt::format("edit --set Cat=1 --classifier '{}' --prior '{}' -n 1 --steps 1 -o '{}'", bad("classifier"), models.file("prior"), out),
                                fmt::format("edit --set Cat=1 --classifier '{}' --prior '{}' -n 1 --steps 1 -o '{}'", models.file("classifier"), bad("prior"), out)}) {
    const auto result = spnn_command(arguments);
    EXPECT_EQ(result.exit_code, 1) << arguments << result.out << result.err;
    EXPECT_THAT(result.err, HasSubstr("expected finite numbers, got NaN or infinity")) << arguments;
    EXPECT_FALSE(std::filesystem::exists(out)) << arguments;
  }
}

// OpenBLAS waits for ever where a limit refuses its memory: the launcher asks before it loads it.
TEST(Launcher, WithoutRoomForTheEngineIsASentenceAndNoHang) {
  for (const int kilobytes : {400'000, 600'000, 950'000}) {
    const TemporaryFolder folder;
    const int status = std::system(fmt::format("ulimit -v {}; timeout -k 1 60 '{}/spnn' --threads 1 verify preset:fashion --count 2 >/dev/null 2>'{}'", kilobytes,
                                               SPNN_BINARY_DIR, (folder / "err").string()).c_str());
    EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 1) << kilobytes;
    EXPECT_THAT(testing::file_text(folder / "err"), HasSubstr("expected 1 GB of addresses for the engine, got less")) << kilobytes;
  }
}

[[gnu::noinline]] void asks_for_memory() { throw std::bad_alloc(); }
void destroys() noexcept { asks_for_memory(); }   // as destructors do

TEST(LauncherDeathTest, MemoryThatADestructorDoesNotGetIsASentenceAndCodeOne) {
  EXPECT_EXIT({ std::set_terminate(cli::end_with_a_sentence); destroys(); }, ::testing::ExitedWithCode(1), "spnn: expected enough memory, got none");
}

// Tables of addresses that a mistake could overwrite are read-only, and for that bound at the start.
TEST(Launcher, TablesOfAddressesAreReadOnly) {
  for (const std::string file : {"spnn", "libspnn.so"}) {
    const TemporaryFolder folder;
    ASSERT_EQ(std::system(fmt::format("readelf -ld '{}/{}' >'{}'", SPNN_BINARY_DIR, file, (folder / "d").string()).c_str()), 0);
    const auto text = testing::file_text(folder / "d");
    EXPECT_THAT(text, HasSubstr("GNU_RELRO")) << file;
    EXPECT_THAT(text, HasSubstr("NOW")) << file;
  }
}

// Fortified calls, stack protectors and checked containers are in what users run.
TEST(Launcher, TheLibraryIsHardened) {
#ifndef SPNN_HARDENED
  GTEST_SKIP() << "built without SPNN_HARDEN, or not for release";
#endif
  const TemporaryFolder folder;
  ASSERT_EQ(std::system(fmt::format("readelf -Ws --dyn-syms '{}/libspnn.so' >'{}'", SPNN_BINARY_DIR, (folder / "d").string()).c_str()), 0);
  const auto text = testing::file_text(folder / "d");
  for (const char* call : {"__stack_chk_fail", "__memcpy_chk", "__glibcxx_assert_fail"}) EXPECT_THAT(text, HasSubstr(call));
}

// An empty entry of a run path is the current folder: a library lying there would be run.
TEST(Launcher, NoLibraryOfTheCurrentFolderIsLoaded) {
  for (const std::string file : {"spnn", "libspnn.so"}) {
    const TemporaryFolder folder;
    ASSERT_EQ(std::system(fmt::format("readelf -d '{}/{}' >'{}'", SPNN_BINARY_DIR, file, (folder / "d").string()).c_str()), 0);
    const auto text = testing::file_text(folder / "d");
    for (auto at = text.find("path: ["); at != std::string::npos; at = text.find("path: [", at + 1)) {
      const auto path = ":" + text.substr(at + 7, text.find(']', at) - at - 7) + ":";
      EXPECT_THAT(path, Not(HasSubstr("::"))) << file;
      EXPECT_THAT(path, Not(HasSubstr(":.:"))) << file;
    }
    EXPECT_THAT(text, HasSubstr("NEEDED")) << "readelf said nothing";
  }
}

}  // namespace
}  // namespace spnn
