#include <fstream>
#include <random>

#include "studio_fixture.h"

namespace spnn::studio::test {
namespace {

using Jobs = StudioTest;
using nlohmann::json;
const std::string kJobsPath = "/api/v1/jobs/";

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST_F(Jobs, AnEditIsDoneAndItsPictureCarriesItsSettings) {
  const auto body = json{{"kind", "edit"}, {"photo", photo()}, {"wishes", {{"Smiling", 0.9}}},
                         {"seed", 5},      {"steps", 3},       {"keep", 0.7},
                         {"fast", false},  {"size", 16}};
  const auto id = json::parse(post("/api/v1/jobs", body.dump()).body).at("job").get<std::string>();
  const auto events = wait(id);
  for (const auto* name : {"event: queued", "event: started", "event: progress", "event: done"})
    EXPECT_NE(events.find(name), std::string::npos) << name;
  const auto picture = get(kJobsPath + id + "/picture");
  EXPECT_EQ(picture.status, 200);
  EXPECT_TRUE(picture.has("Content-Type: image/png"));
  const auto at = picture.body.find("iTXtspnn");
  ASSERT_NE(at, std::string::npos);
  EXPECT_NE(picture.body.find("\"seed\":5", at), std::string::npos);
  EXPECT_NE(picture.body.find("\"Smiling\":0.9", at), std::string::npos);
}

TEST_F(Jobs, EventsHaveIdsAndCanBeReadAgainFromAnyOfThem) {
  const auto id = start(1, 4);
  const auto all = wait(id);
  const auto last = std::stoul(all.substr(all.rfind("id: ") + 4));
  EXPECT_EQ(
      count_of(get(kJobsPath + id + "/events", "Last-Event-ID: " + std::to_string(last - 1) + "\r\n").body, "id: "),
      1u);
  EXPECT_EQ(count_of(get(kJobsPath + id + "/events", "Last-Event-ID: " + std::to_string(last) + "\r\n").body, "id: "),
            0u);
  EXPECT_EQ(wait(id), wait(id));
}

TEST_F(Jobs, AFailureIsASentence) {
  const auto events = wait(start(666, 1));
  EXPECT_NE(events.find("event: failed"), std::string::npos);
  EXPECT_NE(events.find("expected luck, got none\""), std::string::npos) << events;
  const auto torn = json::parse(post("/api/v1/photos", png(FakeSession::picture(9)).substr(0, 30), "image/png").body)
                        .at("photo")
                        .get<std::string>();
  const auto answer = post("/api/v1/ask/look", json{{"photo", torn}}.dump());
  EXPECT_EQ(answer.status, 422);
  EXPECT_NE(answer.body.find("torn"), std::string::npos);
}

TEST_F(Jobs, CancelWorksAtEveryMoment) {
  session.step = std::chrono::milliseconds(5);
  const auto running = start(1, 400), waiting = start(2, 400);
  while (state(running) != "running") std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_EQ(remove(kJobsPath + waiting).status, 200);
  EXPECT_EQ(state(waiting), "cancelled");
  EXPECT_EQ(remove(kJobsPath + running).status, 200);
  EXPECT_NE(wait(running).find("event: cancelled"), std::string::npos);
  EXPECT_EQ(get(kJobsPath + running + "/picture").status, 409);
  EXPECT_EQ(remove(kJobsPath + running).status, 200);  // again: nothing happens
  const auto done = start(3, 1);
  EXPECT_NE(wait(done).find("event: done"), std::string::npos);
  remove(kJobsPath + done);
  EXPECT_EQ(state(done), "done");
  for (int delay = 0; delay < 12; ++delay) {  // somewhere between being queued and being done
    const auto job = start(10, 3);
    std::this_thread::sleep_for(std::chrono::milliseconds(delay * 2));
    remove(kJobsPath + job);
    const auto events = wait(job);
    EXPECT_EQ(count_of(events, "event: cancelled") + count_of(events, "event: done"), 1u) << events;
  }
}

TEST_F(Jobs, AFullQueueSaysThePlace) {
  session.step = std::chrono::milliseconds(20);
  config.limits.queue = 3;
  restart();
  for (int i = 0; i < 4; ++i) {
    start(static_cast<std::uint64_t>(i), 500);
    std::this_thread::sleep_for(std::chrono::milliseconds(30));  // the first one is running
  }
  const auto answer = post("/api/v1/jobs", sample_text(9, 1));
  EXPECT_EQ(answer.status, 429);
  EXPECT_TRUE(answer.has("Retry-After"));
  EXPECT_EQ(json::parse(answer.body).at("place"), 4) << answer.body;
}

TEST_F(Jobs, ClientsTakeTurns) {
  session.step = std::chrono::milliseconds(2);
  start(100, 40, "first");
  std::vector<std::string> jobs;
  for (int i = 1; i <= 4; ++i) jobs.push_back(start(static_cast<std::uint64_t>(i), 1, "greedy"));
  jobs.push_back(start(50, 1, "modest"));
  for (const auto& job : jobs) wait(job);
  const std::lock_guard lock(session.mutex);
  EXPECT_EQ(session.seeds, (std::vector<std::uint64_t>{100, 1, 50, 2, 3, 4}));
}

TEST_F(Jobs, QuestionsAreAnsweredBetweenTheStepsOfAJob) {
  session.step = std::chrono::milliseconds(10);
  const auto id = photo();
  const auto job = start(1, 300);
  const auto answer = post("/api/v1/ask/pinv", "{\"values\":{\"Smiling\":2}}");
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(post("/api/v1/ask/look", json{{"photo", id}}.dump()).status, 200);
  EXPECT_EQ(state(job), "running");
  EXPECT_EQ(post("/api/v1/ask/nothing", "{}").status, 404);
}

TEST_F(Jobs, ReadersThatLeaveOrStopReadingDisturbNobody) {
  session.step = std::chrono::milliseconds(2);
  config.limits.write_seconds = 0.5;
  restart();
  const auto job = start(1, 200);
  std::vector<std::unique_ptr<Wire>> asleep;
  for (int i = 0; i < 20; ++i) {
    asleep.push_back(std::make_unique<Wire>(server->port()));
    asleep.back()->send(head("GET", kJobsPath + job + "/events") + "\r\n");
    Wire leaves(server->port());
    leaves.send(head("GET", kJobsPath + job + "/events") + "\r\n");
  }
  EXPECT_NE(wait(job).find("event: done"), std::string::npos);
  EXPECT_EQ(get("/api/v1").status, 200);
}

TEST_F(Jobs, TooManyConnectionsAreToldSo) {
  config.limits.connections = 5;
  restart();
  std::vector<std::unique_ptr<Wire>> open;
  for (int i = 0; i < 5; ++i) open.push_back(std::make_unique<Wire>(server->port()));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(get("/api/v1").status, 503);
  open.clear();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(get("/api/v1").status, 200);
}

TEST_F(Jobs, OldPhotosMakeRoom) {
  config.limits.photos = 3;
  restart();
  const auto first = photo();
  for (int i = 0; i < 3; ++i) photo();
  EXPECT_EQ(get("/api/v1/photos/" + first).status, 404);
  EXPECT_EQ(get("/api/v1/photos/" + photo()).body, png(FakeSession::picture(9)));
}

TEST_F(Jobs, AClientThatAsksLateStillFindsItsJob) {
  session.step = std::chrono::milliseconds(0);
  for (const double seconds : {30.0, 0.0}) {   // those that are old enough are forgotten
    config.limits.finished = 2;
    config.limits.finished_seconds = seconds;
    restart();
    const auto first = start(1, 1);
    for (std::uint64_t seed = 2; seed < 8; ++seed) wait(start(seed, 1));
    EXPECT_EQ(get("/api/v1/jobs/" + first).status, seconds > 0 ? 200 : 404);
  }
}

TEST_F(Jobs, FiftyClientsAtOnceLoseNothing) {
  session.step = std::chrono::milliseconds(0);
  config.limits.queue = 100;
  restart();
  std::atomic<int> done = 0, turned_away = 0;
  std::vector<std::thread> clients;
  for (int c = 0; c < 50; ++c) {
    clients.emplace_back([&, c] {
      for (int i = 0; i < 6; ++i) {
        const auto answer = post("/api/v1/jobs", sample_text(static_cast<std::uint64_t>(c), 2, std::to_string(c)));
        if (answer.status != 202) {
          ++turned_away;
          continue;
        }
        if (wait(json::parse(answer.body).at("job")).find("event: done") != std::string::npos) ++done;
      }
    });
  }
  for (auto& client : clients) client.join();
  EXPECT_EQ(done, 300);
  EXPECT_EQ(turned_away, 0);
}

TEST_F(Jobs, StoppingEndsARunningJobAndEveryConnection) {
  session.step = std::chrono::milliseconds(5);
  const auto job = start(1, 1000);
  Wire watcher(server->port());
  watcher.send(head("GET", kJobsPath + job + "/events") + "\r\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  const auto begin = std::chrono::steady_clock::now();
  end();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
}

// ---- 100,000 requests that nobody in his right mind would send

std::int64_t resident_bytes() {
  std::ifstream in("/proc/self/statm");
  std::int64_t size = 0, resident = 0;
  in >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

std::string random_request(std::mt19937& random, const std::string& host, const std::string& token) {
  static const auto picture = png(FakeSession::picture(9));
  const auto pick = [&](std::initializer_list<const char*> words) {
    return std::string(words.begin()[random() % words.size()]);
  };
  const auto junk = [&](std::size_t most) {
    std::string out;
    for (std::size_t n = random() % most; n > 0; --n)
      out += static_cast<char>(random() % 4 ? 32 + random() % 95 : random() % 256);
    return out;
  };
  if (random() % 10 == 0) return junk(200) + "\r\n\r\n";
  auto body = random() % 2
                  ? pick({"{}", "{\"kind\":\"sample\"}", "{\"kind\":\"edit\"}", "{\"values\":{\"Smiling\":1}}",
                          "{\"values\":{\"Smiling\":1e400}}", "[[[[[[", "null"})
                  : random() % 4 ? junk(300)
                                 : picture;  // photos are kept for a while: they must not pile up
  auto text = pick({"GET", "POST", "DELETE", "HEAD", "PUT", "OPTIONS", "BREW"}) + " " +
              pick({"/", "/api/v1", "/api/v1/jobs", "/api/v1/photos", "/api/v1/ask/pinv", "/api/v1/ask/look",
                    "/main.js", "/../x", "/api/v1/jobs/x/events", "*"}) +
              " HTTP/1.1\r\n";
  if (random() % 20) text += "Host: " + host + "\r\n";
  if (random() % 3) text += "X-Spnn-Token: " + token + "\r\n";
  if (random() % 3 == 0) text += "Origin: " + pick({"null", "http://evil.example", "http://localhost"}) + "\r\n";
  if (random() % 2) text += "Content-Type: application/json\r\n";
  if (random() % 5 == 0) text += junk(40) + "\r\n";
  if (random() % 20 == 0) text += "Transfer-Encoding: chunked\r\n";
  else text += "Content-Length: " + std::to_string(random() % 10 ? body.size() : random() % 100000) + "\r\n";
  text += "\r\n" + body;
  if (random() % 10 == 0) text.resize(random() % text.size());
  return text;
}

TEST_F(Jobs, AHundredThousandRandomRequestsLeaveItAnswering) {
  session.step = std::chrono::milliseconds(0);
  std::mt19937 warm(1);
  const auto round = [&](int count, std::uint32_t seed) {
    std::vector<std::thread> clients;
    for (std::uint32_t c = 0; c < 4; ++c) {
      clients.emplace_back([&, c] {
        std::mt19937 random(seed + c);
        for (int i = 0; i < count / 4; ++i) {
          Wire wire(server->port());
          wire.send(random_request(random, host(), server->token()));
          std::string text;
          if (random() % 4) wire.read_some(text, 5);  // the others leave without listening
        }
      });
    }
    for (auto& client : clients) client.join();
  };
  round(4000, 1);
  const auto before = resident_bytes();
  round(100000, 100);
  const auto grown = resident_bytes() - before;
  RecordProperty("grown_kilobytes", static_cast<int>(grown >> 10));
  EXPECT_LT(grown, 50 << 20);
  // On a busy machine it may still have thousands of closed connections to look at first.
  EXPECT_EQ(talk(head("GET", "/api/v1") + "\r\n", 120000).status, 200);
  EXPECT_NE(wait(start(1, 1)).find("event: done"), std::string::npos);
}

}  // namespace
}  // namespace spnn::studio::test
