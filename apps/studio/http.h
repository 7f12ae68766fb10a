#pragma once

// What the API sees of HTTP. The sockets are server.cpp's alone.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace spnn::studio {

struct Request {
  std::string method = {};                          // GET, POST, DELETE, HEAD
  std::string path = {};                            // without the query
  std::map<std::string, std::string> headers = {};  // names in lower case; one that comes twice is joined by ", "
  std::string body = {};
  std::string peer = {};  // address, for the log

  std::string_view header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string_view{} : std::string_view(found->second);
  }
  bool has(const std::string& name) const { return headers.contains(name); }
};

struct Response {
  int status = 200;
  std::string type = "application/json";
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};  // beside those that every answer has
};

// A refusal with its code and the sentence that the client gets.
struct Refusal {
  int status;
  std::string error;
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string more = {};  // further JSON fields: "\"place\":3"
};

Response refuse(const Refusal& refusal);

// The limits; `/api/v1` tells them.
struct Limits {
  std::size_t header_bytes = 16 << 10;
  std::size_t json_bytes = 256 << 10;
  std::size_t photo_bytes = 20 << 20;
  std::int64_t photo_pixels = 50'000'000;
  std::size_t photos = 64, photos_total_bytes = 160 << 20;
  std::size_t json_depth = 16;
  std::size_t queue = 128, queue_of_a_client = 12;  // jobs that wait
  // Jobs that are over: the newest are remembered, and of the others those whose client may still be on its way.
  std::size_t finished = 64, finished_at_most = 512;
  double finished_seconds = 30;
  std::size_t asks = 64;                            // quick questions that wait
  std::size_t connections = 256;
  double header_seconds = 10, body_seconds = 60, write_seconds = 20, idle_seconds = 60;
  double job_seconds = 900, photo_seconds = 7200;
};

}  // namespace spnn::studio
