#pragma once

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <thread>

#include <studio/pictures.h>

#include "fake_session.h"
#include "raw_client.h"

namespace spnn::studio::test {

// A running server over the fake session, and the words to talk to it.
class StudioTest : public testing::Test {
 protected:
  FakeSession session;
  ServerConfig config{.port = 0};
  std::unique_ptr<Server> server;
  std::thread thread;
  std::vector<std::string> log;

  void begin() {
    config.log = [this](const std::string& line) { log.push_back(line); };
    server = std::make_unique<Server>(studio_of(fake_models(session), config.limits), config);
    thread = std::thread([this] { server->run(); });
  }
  void SetUp() override { begin(); }
  void TearDown() override { end(); }
  void end() {
    if (!server) return;
    server->stop();
    thread.join();
    server.reset();
  }
  void restart() {
    end();
    begin();
  }

  std::string host() const { return "localhost:" + std::to_string(server->port()); }
  std::string head(const std::string& method, const std::string& path, const std::string& more = "") const {
    return method + " " + path + " HTTP/1.1\r\nHost: " + host() + "\r\n" + more;
  }
  std::string with_token() const { return "X-Spnn-Token: " + server->token() + "\r\n"; }
  Answer talk(const std::string& text, int milliseconds = 10000) const {
    Wire wire(server->port());
    wire.send(text);
    return wire.read(milliseconds);
  }
  Answer get(const std::string& path, const std::string& more = "") const {
    return talk(head("GET", path, more) + "\r\n");
  }
  std::string post_text(const std::string& path, const std::string& body,
                        const std::string& type = "application/json") const {
    return head("POST", path,
                with_token() + "Content-Type: " + type + "\r\nContent-Length: " + std::to_string(body.size()) +
                    "\r\n") +
           "\r\n" + body;
  }
  Answer post(const std::string& path, const std::string& body, const std::string& type = "application/json") const {
    return talk(post_text(path, body, type));
  }
  Answer remove(const std::string& path) const { return talk(head("DELETE", path, with_token()) + "\r\n"); }

  std::string photo() const {
    return nlohmann::json::parse(post("/api/v1/photos", png(FakeSession::picture(9)), "image/png").body).at("photo");
  }
  std::string sample_text(std::uint64_t seed, int steps, const std::string& client = "") const {
    return nlohmann::json{{"kind", "sample"}, {"seed", seed}, {"steps", steps}, {"client", client}}.dump();
  }
  std::string start(std::uint64_t seed, int steps, const std::string& client = "") const {
    const auto answer = post("/api/v1/jobs", sample_text(seed, steps, client));
    EXPECT_EQ(answer.status, 202) << answer.body;
    return nlohmann::json::parse(answer.body).at("job");
  }
  std::string state(const std::string& job) const {
    return nlohmann::json::parse(get("/api/v1/jobs/" + job).body).at("state");
  }
  std::string wait(const std::string& job) const {  // until it is over
    return get("/api/v1/jobs/" + job + "/events").body;
  }
};

}  // namespace spnn::studio::test
