#include <spnn/training/rendezvous.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <future>

#include "support/damage.h"
#include "training/tiny.h"

using namespace spnn;
using namespace spnn::testing;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

namespace {

RendezvousConfig rank_in(const std::filesystem::path& run, std::int64_t rank, std::int64_t size = 2, std::chrono::milliseconds timeout = 20s) {
  return {.run = run, .rank = rank, .size = size, .timeout = timeout};
}

std::vector<std::filesystem::path> names_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path());
  return names;
}

}  // namespace

TEST(Rendezvous, TwoMeetAndExchangeWords) {
  const TemporaryFolder folder;
  auto other = std::async(std::launch::async, [&] {
    const Rendezvous place(rank_in(folder / "run", 1));
    place.set("a/1", std::string("from\0one", 8));
    return place.get("a/0");
  });
  Rendezvous place(rank_in(folder / "run", 0));
  struct stat status {};
  stat(names_in(folder / "run").front().c_str(), &status);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);   // for its owner only
  place.set("a/0", "from 0");
  EXPECT_EQ(place.get("a/1"), std::string("from\0one", 8));
  EXPECT_EQ(other.get(), "from 0");
  place.close();
  EXPECT_TRUE(names_in(folder / "run").empty());
}

TEST(Rendezvous, WhatAKilledLeaderLeftIsNotTakenForAMeeting) {
  const TemporaryFolder folder;
  const pid_t killed = fork();
  if (killed == 0) {
    const Rendezvous place(rank_in(folder / "run", 0));
    place.set("a/0", "of the dead");
    kill(getpid(), SIGKILL);
  }
  waitpid(killed, nullptr, 0);
  ASSERT_EQ(names_in(folder / "run").size(), 1U);
  auto other = std::async(std::launch::async, [&] { return Rendezvous(rank_in(folder / "run", 1)).get("a/0"); });
  std::this_thread::sleep_for(100ms);
  const Rendezvous place(rank_in(folder / "run", 0));
  place.set("a/0", "of the living");
  EXPECT_EQ(other.get(), "of the living");
}

TEST(Rendezvous, RefusesAnotherSizeAndASecondOfOneRank) {
  const TemporaryFolder folder;
  const Rendezvous place(rank_in(folder / "run", 0, 3));
  EXPECT_THAT(refusal([&] { Rendezvous(rank_in(folder / "run", 1, 2)); }), HasSubstr("process 1 of 2: expected WORLD_SIZE 3, as process 0 has it, got 2"));
  const Rendezvous one(rank_in(folder / "run", 1, 3));
  EXPECT_THAT(refusal([&] { Rendezvous(rank_in(folder / "run", 1, 3)); }), HasSubstr("expected to be the only process of this rank, got another one in"));
}

TEST(Rendezvous, EndsWhenNobodyComesWhenInterruptedAndWhenTheLeaderEnds) {
  const TemporaryFolder folder;
  EXPECT_THAT(refusal([&] { Rendezvous(rank_in(folder / "run", 1, 2, 100ms)); }), HasSubstr("got nobody for 0 s"));
  auto config = rank_in(folder / "run", 1);
  config.cancelled = [] { return true; };
  EXPECT_THAT(refusal([&] { Rendezvous{config}; }), HasSubstr("interrupted before all processes were there"));
  auto leader = std::make_unique<Rendezvous>(rank_in(folder / "run", 0));
  auto other = std::async(std::launch::async, [&] { return refusal([&] { Rendezvous(rank_in(folder / "run", 1)).get("never"); }); });
  std::this_thread::sleep_for(200ms);
  leader.reset();
  EXPECT_THAT(other.get(), HasSubstr("got a process 0 that has ended"));
}
