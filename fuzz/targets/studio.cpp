#include <nlohmann/json.hpp>
#include <spnn/core/errors.h>

#include <memory>

#include "../../tests/studio/fake_session.h"
#include "../fuzz.h"

namespace spnn::fuzz {
namespace {

using namespace spnn::studio;

// "POST /api/v1/jobs\nname: value\n\nbody": what server.cpp makes of HTTP. (Reading HTTP itself is Boost.Beast's work.)
Request request_of(std::string_view text) {
  Request request;
  const auto line = [&] {
    const auto end = std::min(text.find('\n'), text.size());
    const auto taken = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return taken;
  };
  const auto first = line();
  const auto space = std::min(first.find(' '), first.size());
  request.method = first.substr(0, space);
  request.path = first.substr(std::min(space + 1, first.size()));
  for (auto header = line(); !header.empty(); header = line()) {
    const auto colon = std::min(header.find(": "), header.size());
    request.headers[std::string(header.substr(0, colon))] = header.substr(std::min(colon + 2, header.size()));
  }
  request.body = text;
  request.peer = "fuzz";
  return request;
}

class QuickStudio {
 public:
  QuickStudio() {
    session_.step = std::chrono::milliseconds(0);
    studio_ = std::make_unique<Studio>(studio::test::fake_models(session_), Door{{"localhost"}, 80, "token"}, Limits{}, [] {});
  }
  ~QuickStudio() { studio_->stop(); }

  void ask(View input) {
    auto request = request_of({reinterpret_cast<const char*>(input.data()), input.size()});
    studio_->refused(request);
    request.headers["host"] = "localhost:80";   // and then as one who may come in
    request.headers["x-spnn-token"] = "token";
    if (studio_->refused(request)) return;
    if (request.body.size() > studio_->body_limit(request)) return;
    try {
      studio_->watched(request);
    } catch (const Refusal&) {
    }
    studio_->handle(request, [](const Response& response) {
      if (response.type == "application/json" && !response.body.empty() && !nlohmann::json::accept(response.body)) throw std::logic_error("an answer that is no JSON");
    });
  }

 private:
  studio::test::FakeSession session_;
  std::unique_ptr<Studio> studio_;
};

}  // namespace

void add_studio_target(std::vector<Target>& all) {
  all.push_back({.name = "studio",
                 .read = [](View input) {
                   static QuickStudio quick;
                   quick.ask(input);
                 },
                 .words = {"GET ", "POST ", "DELETE ", "/api/v1", "/api/v1/jobs", "/api/v1/photos", "/api/v1/ask/", "\"kind\":", "\"sample\"", "\"edit\"", "\"restore\"", "\"seed\":", "\"steps\":",
                           "\"photo\":", "\"wishes\":", "\"Smiling\"", "content-type: application/json\n", "origin: ", "..", "%2e", "\n\n", "1e309", "[[[[[[[[[[[[[[[[["}});
}

}  // namespace spnn::fuzz
