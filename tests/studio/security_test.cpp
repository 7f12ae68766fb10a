#include "studio_fixture.h"

#include "../support/sockets.h"

namespace spnn::studio::test {
namespace {

using Security = StudioTest;
const std::string kJobs = "/api/v1/jobs";

TEST_F(Security, NothingListensBeyondTheLoopbackUnlessAskedTo) {
  const auto mine = spnn::testing::reached(getpid());
  EXPECT_EQ(mine.loopback.size(), 1U);
  EXPECT_TRUE(mine.beyond.empty()) << *mine.beyond.begin();
  config.address = "0.0.0.0";
  restart();
  EXPECT_EQ(spnn::testing::reached(getpid()).beyond.size(), 1U);
}

TEST_F(Security, AForeignHostIsRefused) {
  for (const auto* name : {"evil.example", "localhost", "localhost:1", "127.0.0.1.evil.example", "localhost.:8080"})
    EXPECT_EQ(talk(std::string("GET / HTTP/1.1\r\nHost: ") + name + "\r\n\r\n").status, 421) << name;
  EXPECT_EQ(talk("GET / HTTP/1.1\r\n\r\n").status, 400);
  const auto port = std::to_string(server->port());
  for (const auto& name : {"localhost:" + port, "LOCALHOST:" + port, "127.0.0.1:" + port, "[::1]:" + port})
    EXPECT_EQ(talk("GET / HTTP/1.1\r\nHost: " + name + "\r\n\r\n").status, 200) << name;
  EXPECT_EQ(talk("GET / HTTP/1.1\r\nHost: localhost:" + port + "\r\nHost: evil.example\r\n\r\n").status, 421);
}

TEST_F(Security, NamesThatWereGivenAreAccepted) {
  config.names = {"studio.home"};
  restart();
  EXPECT_EQ(talk("GET / HTTP/1.1\r\nHost: studio.home:" + std::to_string(server->port()) + "\r\n\r\n").status, 200);
}

TEST_F(Security, ForeignAndNullOriginsAreRefused) {
  for (const auto* origin : {"https://evil.example", "null", "http://localhost:1", "https://localhost", ""})
    EXPECT_EQ(get("/api/v1", std::string("Origin: ") + origin + "\r\n").status, 403) << origin;
  EXPECT_EQ(get("/api/v1", "Origin: http://" + host() + "\r\n").status, 200);
}

TEST_F(Security, OtherPagesMayNotFetch) {
  EXPECT_EQ(get("/api/v1", "Sec-Fetch-Site: cross-site\r\n").status, 403);
  EXPECT_EQ(get("/api/v1", "Sec-Fetch-Site: same-site\r\n").status, 403);  // another server on localhost
  EXPECT_EQ(get("/", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n").status, 403);
  EXPECT_EQ(get("/", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n").status,
            200);  // a link to the page
  EXPECT_EQ(get("/api/v1", "Sec-Fetch-Site: same-origin\r\n").status, 200);
}

TEST_F(Security, WritesNeedTheToken) {
  const std::string body = "{}", rest = "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
  EXPECT_EQ(talk(head("POST", kJobs) + rest).status, 401);
  EXPECT_EQ(talk(head("POST", kJobs, "X-Spnn-Token: wrong\r\n") + rest).status, 401);
  EXPECT_EQ(talk(head("POST", kJobs, "X-Spnn-Token: " + std::string(32, '0') + "\r\n") + rest).status, 401);
  EXPECT_EQ(talk(head("DELETE", kJobs + "/x") + "\r\n").status, 401);
  EXPECT_EQ(talk(head("PUT", "/") + "\r\n").status, 401);
  EXPECT_EQ(post(kJobs, body).status, 400);  // with it: another complaint
}

TEST_F(Security, TheTokenIsInThePageAndNowhereElse) {
  EXPECT_NE(get("/").body.find(server->token()), std::string::npos);
  EXPECT_EQ(get("/api/v1").body.find(server->token()), std::string::npos);
  EXPECT_EQ(get("/main.js").body.find(server->token()), std::string::npos);
}

TEST_F(Security, AnswersCarryTheHeadersThatKeepBrowsersSafe) {
  for (const auto* path : {"/", "/api/v1", "/nothing"}) {
    const auto answer = get(path);
    for (const auto* header :
         {"X-Content-Type-Options: nosniff", "Content-Security-Policy: default-src 'none'",
          "Cross-Origin-Resource-Policy: same-origin", "X-Frame-Options: DENY", "Referrer-Policy: no-referrer"})
      EXPECT_TRUE(answer.has(header)) << path << " " << header;
    EXPECT_FALSE(answer.has("Access-Control")) << path;
  }
}

TEST_F(Security, OversizedRequestsAreRefused) {
  EXPECT_EQ(talk(head("GET", "/", "X-Long: " + std::string(20000, 'a') + "\r\n") + "\r\n").status, 431);
  EXPECT_EQ(talk("GET /" + std::string(20000, 'a') + " HTTP/1.1\r\nHost: " + host() + "\r\n\r\n").status, 431);
  EXPECT_EQ(talk(head("POST", "/api/v1/photos", with_token() + "Content-Length: 900000000000\r\n") + "\r\n").status,
            413);
  EXPECT_EQ(talk(head("POST", kJobs, with_token() + "Content-Length: 300000\r\n") + "\r\n").status, 413);
  EXPECT_EQ(post(kJobs, std::string(300000, ' ')).status, 413);
  EXPECT_EQ(talk(head("GET", "/", "Content-Length: 5\r\n") + "\r\nhello").status, 413);
  std::string chunked =
      head("POST", kJobs, with_token() + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n") + "\r\n";
  for (int i = 0; i < 40; ++i) chunked += "2000\r\n" + std::string(0x2000, ' ') + "\r\n";
  EXPECT_EQ(talk(chunked + "0\r\n\r\n").status, 413);
}

TEST_F(Security, SlowHeadersAndBodiesAreRefused) {
  config.limits.header_seconds = 0.4;
  config.limits.body_seconds = 0.4;
  restart();
  Wire slow(server->port());
  const auto begin = std::chrono::steady_clock::now();
  bool open = true;
  std::string text;
  const auto request = head("GET", "/", "X-Slow: ") + std::string(100, 'a');
  for (const char c : request) {
    if (!(open = slow.send(std::string(1, c)))) break;
    if (slow.read_some(text, 30)) break;
  }
  EXPECT_TRUE(text.starts_with("HTTP/1.1 408")) << text;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_EQ(
      talk(head("POST", kJobs, with_token() + "Content-Type: application/json\r\nContent-Length: 100\r\n") + "\r\n{")
          .status,
      408);
}

TEST_F(Security, AByteASecondIsCutOffByTheLimitsAsTheyAre) {
  Wire slow(server->port());
  const auto begin = std::chrono::steady_clock::now();
  const auto request = head("GET", "/", "X-Slow: ") + std::string(100, 'a');
  std::string text;
  for (const char c : request)
    if (!slow.send(std::string(1, c)) || slow.read_some(text, 1000)) break;
  EXPECT_TRUE(text.starts_with("HTTP/1.1 408")) << text;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::duration<double>(config.limits.header_seconds + 5));
}

TEST_F(Security, PathsNameNothingButWhatTheServerMade) {
  for (const auto* path :
       {"/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/api/v1/jobs/../../../etc/passwd",
        "/api/v1/jobs/..%2f..%2fetc%2fpasswd/picture", "/api/v1/photos/../main.js", "/api/v1/photos/%00",
        "/api/v1/jobs/00000000000000000000000000000000", "/api/v2", "/index.html/", "//main.js"})
    EXPECT_EQ(get(path).status, 404) << path;
}

TEST_F(Security, OnlyPicturesAreTaken) {
  const std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>";
  EXPECT_EQ(post("/api/v1/photos", svg, "image/svg+xml").status, 415);
  EXPECT_EQ(post("/api/v1/photos", svg, "image/png").status, 415);
  EXPECT_EQ(post("/api/v1/photos", "GIF89a.............................", "image/gif").status, 415);
  EXPECT_EQ(post("/api/v1/photos", "", "image/png").status, 400);
  auto packed =
      talk(head("POST", "/api/v1/photos", with_token() + "Content-Encoding: gzip\r\nContent-Length: 0\r\n") + "\r\n");
  EXPECT_EQ(packed.status, 415);
}

TEST_F(Security, ImageBombsAreRefusedBeforeTheyAreUnpacked) {
  auto bomb = png(FakeSession::picture(1));
  const auto side = [&](std::uint32_t w, std::uint32_t h) {
    for (int i = 0; i < 4; ++i) {
      bomb[16 + i] = static_cast<char>(w >> (24 - 8 * i));
      bomb[20 + i] = static_cast<char>(h >> (24 - 8 * i));
    }
  };
  for (const auto& [w, h] : {std::pair{10000u, 10000u}, {0xFFFFFFFFu, 0xFFFFFFFFu}, {0x7FFFFFFFu, 2u}}) {
    side(w, h);
    EXPECT_EQ(post("/api/v1/photos", bomb, "image/png").status, 413) << w << " " << h;
  }
  side(0, 5);
  EXPECT_EQ(post("/api/v1/photos", bomb, "image/png").status, 415);

  // A progressive JPEG of 65500², and WebP files of 16383² (lossy, lossless) and 2²⁴² (with a canvas).
  const std::string jpeg("\xFF\xD8\xFF\xC2\x00\x0B\x08\xFF\xDC\xFF\xDC\x01\x01\x11\x00\xFF\xD9", 17);
  EXPECT_EQ(post("/api/v1/photos", jpeg, "image/jpeg").status, 413);
  const auto webp = [](const std::string& kind, const std::string& data) {
    return std::string("RIFF\x28\0\0\0WEBP", 12) + kind + std::string("\x1C\0\0\0", 4) + data + std::string(40, '\0');
  };
  for (const auto& file : {webp("VP8 ", std::string("\0\0\0\x9D\x01\x2A\xFF\x3F\xFF\x3F", 10)),
                           webp("VP8L", std::string("\x2F\xFE\xFF\xFF\x0F", 5)),
                           webp("VP8X", std::string("\0\0\0\0\xFF\xFF\xFF\xFF\xFF\xFF", 10))})
    EXPECT_EQ(post("/api/v1/photos", file, "image/webp").status, 413) << file.substr(12, 4);
}

TEST_F(Security, EveryNumberHasItsRange) {
  const auto id = photo();
  const auto edit = [&](const std::string& rest) {
    return post(kJobs, "{\"kind\":\"edit\",\"photo\":\"" + id + "\"," + rest + "}");
  };
  EXPECT_EQ(edit("\"wishes\":{\"Smiling\":0.9}").status, 202);
  for (const auto* bad :
       {"\"wishes\":{\"Smiling\":NaN}", "\"wishes\":{\"Smiling\":1e308}", "\"wishes\":{\"Smiling\":1e999}",
        "\"wishes\":{\"Smiling\":-1}", "\"wishes\":{\"Smiling\":\"0.5\"}",
        "\"wishes\":{\"Smiling\":{\"value\":1e308}}", "\"wishes\":{}", "\"wishes\":[]", "\"wishes\":{\"Nobody\":0.5}",
        "\"wishes\":{\"Smiling\":0.5},\"keep\":1.5", "\"wishes\":{\"Smiling\":0.5},\"steps\":0",
        "\"wishes\":{\"Smiling\":0.5},\"steps\":1e9", "\"wishes\":{\"Smiling\":0.5},\"steps\":1.5",
        "\"wishes\":{\"Smiling\":0.5},\"seed\":-1", "\"wishes\":{\"Smiling\":0.5},\"path\":\"/etc\"",
        "\"wishes\":{\"Smiling\":0.5},\"fast\":1",
        "\"wishes\":{\"Smiling\":0.5},\"crop\":{\"x\":0,\"y\":0,\"side\":1e308}",
        "\"wishes\":{\"Smiling\":0.5},\"crop\":{\"x\":10,\"y\":0,\"side\":16}",
        "\"wishes\":{\"Smiling\":0.5},\"size\":512"}) {
    const auto answer = edit(bad);
    EXPECT_EQ(answer.status, 400) << bad << " " << answer.body;
    EXPECT_NE(answer.body.find("expected"), std::string::npos) << answer.body;
  }
  EXPECT_EQ(post(kJobs, "{\"kind\":\"edit\",\"photo\":\"nobody\",\"wishes\":{\"Smiling\":0.5}}").status, 404);
}

TEST_F(Security, DeepAndBrokenJsonIsRefused) {
  EXPECT_EQ(post(kJobs, std::string(10000, '[')).status, 400);
  EXPECT_EQ(post(kJobs, "{\"a\":" + std::string(10000, '[') + std::string(10000, ']') + "}").status, 400);
  for (const auto* bad : {"", "[]", "1", "null", "{", "{\"kind\":}", "\xff\xfe", "{\"kind\":\"edit\"}{"})
    EXPECT_EQ(post(kJobs, bad).status, 400) << bad;
  EXPECT_EQ(post(kJobs, "{}", "text/plain").status, 415);
}

TEST_F(Security, OtherMethodsVersionsAndUpgradesAreRefused) {
  EXPECT_EQ(talk("GET / HTTP/1.0\r\nHost: " + host() + "\r\n\r\n").status, 505);
  EXPECT_EQ(talk(head("POST", "/api/v1", with_token() + "Content-Length: 0\r\n") + "\r\n").status, 405);
  EXPECT_EQ(talk(head("PUT", kJobs, with_token() + "Content-Length: 0\r\n") + "\r\n").status, 405);
  EXPECT_EQ(get("/", "Connection: Upgrade\r\nUpgrade: websocket\r\n").status, 400);
  EXPECT_EQ(talk("\x16\x03\x01 this is TLS\r\n\r\n").status, 400);
  EXPECT_EQ(talk(head("HEAD", "/") + "Connection: close\r\n\r\n").body, "");
}

TEST_F(Security, TheLogSaysWhoWasRefusedAndWhy) {
  get("/api/v1", "Origin: https://evil.example\r\n");
  end();
  ASSERT_FALSE(log.empty());
  EXPECT_NE(log.back().find("refused 127.0.0.1 GET /api/v1: 403"), std::string::npos) << log.back();
  EXPECT_NE(log.back().find("evil.example"), std::string::npos);
}

}  // namespace
}  // namespace spnn::studio::test
