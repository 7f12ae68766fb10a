#include "studio.h"

#include <nlohmann/json.hpp>

#include <new>

#include "page.h"

namespace spnn::studio {
namespace {

constexpr std::string_view kApi = "/api/v1";

std::string json_text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Response json_answer(const Json& json, int status = 200) { return {.status = status, .body = json_text(json)}; }

// The part of a path after "/api/v1/NAME", without its slash; none: another path.
std::optional<std::string> below(const Request& request, std::string_view name) {
  const auto root = std::string(kApi) + "/" + std::string(name);
  if (request.path == root) return "";
  if (request.path.starts_with(root + "/")) return request.path.substr(root.size() + 1);
  return {};
}

void require_method(const Request& request, const std::string& allowed) {
  if (request.method == allowed || (allowed == "GET" && request.method == "HEAD")) return;
  throw Refusal{405, "method: expected " + allowed + ", got another", {{"Allow", allowed}}};
}

// Ids are ours: 32 hexadecimal digits. Everything else is unknown, whatever it tries to name.
bool is_id(std::string_view text) {
  return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Json body_of(const Request& request, const Limits& limits) {
  if (!request.header("content-type").starts_with("application/json"))
    throw Refusal{415, "Content-Type: expected application/json, got another"};
  return parse_object(request.body, limits.json_depth);
}

std::string type_of(std::string_view path) {
  if (path.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (path.ends_with(".css")) return "text/css; charset=utf-8";
  if (path.ends_with(".png")) return "image/png";
  return "text/html; charset=utf-8";
}

std::string replaced(std::string text, std::string_view from, const std::string& to) {
  if (const auto at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

// What any failure looks like from outside.
template <class Act>
Response guarded(Act act) {
  try {
    return act();
  } catch (const Refusal& refusal) { return refuse(refusal); } catch (const std::bad_alloc&) {
    return refuse({503, "memory: expected enough of it, got none"});
  } catch (const std::exception& error) { return refuse({422, sentence(error)}); }
}

}  // namespace

Response refuse(const Refusal& refusal) {
  auto body = json_text({{"error", refusal.error}, {"status", refusal.status}});
  if (!refusal.more.empty()) body.insert(body.size() - 1, "," + refusal.more);
  return {.status = refusal.status, .body = body, .headers = refusal.headers};
}

Studio::Studio(Models models, Door door, const Limits& limits, std::function<void()> changed)
    : limits_(limits),
      door_(std::move(door)),
      known_(std::move(models)),
      photos_(limits),
      jobs_(limits, std::move(changed)) {
  description_ = json_text(describe(known_, limits_));
}

MakeApplication studio_of(Models models, const Limits& limits) {
  return [models, limits](const Door& door, std::function<void()> changed) {
    return std::make_unique<Studio>(models, door, limits, std::move(changed));
  };
}

std::size_t Studio::body_limit(const Request& request) const {
  if (request.method == "GET" || request.method == "HEAD" || request.method == "DELETE") return 0;
  return request.path == std::string(kApi) + "/photos" ? limits_.photo_bytes : limits_.json_bytes;
}

void Studio::handle(const Request& request, Reply reply) {
  if (const auto what = below(request, "ask")) {
    try {
      require_method(request, "POST");
      ask(*what, request, reply);
    } catch (const Refusal& refusal) { reply(refuse(refusal)); }
    return;
  }
  reply(guarded([&] { return answer(request); }));
}

void Studio::ask(const std::string& what, const Request& request, const Reply& reply) {
  const auto answer = wanted_answer({known_, photos_}, what, body_of(request, limits_));
  jobs_.ask([answer, reply] { reply(guarded([&] { return json_answer(answer()); })); });
}

Response Studio::answer(const Request& request) {
  if (request.path == kApi) {
    require_method(request, "GET");
    return {.body = description_};
  }
  if (const auto rest = below(request, "jobs")) return jobs_route(request, *rest);
  if (const auto rest = below(request, "photos")) return photos_route(request, *rest);
  if (request.path.starts_with("/api")) throw Refusal{404, "path: expected one of /api/v1, got an unknown one"};
  return page(request);
}

Response Studio::jobs_route(const Request& request, const std::string& rest) {
  if (rest.empty()) {
    require_method(request, "POST");
    auto wanted = wanted_job({known_, photos_}, body_of(request, limits_));
    const auto client = wanted.client.empty() ? request.peer : wanted.client;
    auto id = std::make_shared<std::string>();
    // The worker may begin before the id is known here: it waits for it.
    auto known = std::make_shared<std::mutex>();
    const std::lock_guard lock(*known);
    const auto job = jobs_.add(client, [work = std::move(wanted.work), id, known](engine::Watch& watch) {
      { const std::lock_guard wait(*known); }
      return work(watch, *id);
    });
    *id = job->id;
    return json_answer({{"job", job->id},
                        {"place", jobs_.place(job->id)},
                        {"events", std::string(kApi) + "/jobs/" + job->id + "/events"}},
                       202);
  }
  const auto slash = rest.find('/');
  const auto id = rest.substr(0, slash);
  const auto part = slash == std::string::npos ? "" : rest.substr(slash + 1);
  const auto job = is_id(id) ? jobs_.find(id) : nullptr;
  if (!job || (!part.empty() && part != "picture"))
    throw Refusal{404, "job: expected one that this server knows, got an unknown or forgotten one"};
  if (part == "picture") {
    require_method(request, "GET");
    auto picture = job->picture();
    if (picture.empty()) throw Refusal{409, "picture: expected a job that is done, got one that is " + job->state()};
    return {.type = "image/png", .body = std::move(picture)};
  }
  if (request.method == "DELETE") {
    jobs_.cancel(id);
    return json_answer({{"job", id}, {"state", job->state()}});
  }
  require_method(request, "GET");
  return json_answer({{"job", id}, {"state", job->state()}, {"place", jobs_.place(id)}});
}

Response Studio::photos_route(const Request& request, const std::string& rest) {
  if (rest.empty()) {
    require_method(request, "POST");
    const auto photo = photos_.add(request.body);
    return json_answer({{"photo", photo.id}, {"width", photo.size.width}, {"height", photo.size.height}}, 201);
  }
  require_method(request, "GET");
  if (!is_id(rest)) throw Refusal{404, "photo: expected one that this server has, got an unknown one"};
  const auto photo = photos_.find(rest);
  return {.type = photo.size.type, .body = std::string(photo.file->begin(), photo.file->end())};
}

Response Studio::page(const Request& request) const {
  const auto path = request.path == "/" ? "/index.html" : request.path;
  for (const auto& file : page_files()) {
    if (file.path != path) continue;
    require_method(request, "GET");
    Response response{.type = type_of(path), .body = std::string(file.bytes)};
    if (path == "/index.html")
      response.body = replaced(replaced(response.body, "{{token}}", door_.token), "{{client}}", random_name());
    return response;
  }
  throw Refusal{404, "path: expected a part of the page, got an unknown one"};
}

std::shared_ptr<Job> Studio::watched(const Request& request) const {
  const auto rest = below(request, "jobs");
  if (!rest || !rest->ends_with("/events")) return nullptr;
  require_method(request, "GET");
  const auto id = rest->substr(0, rest->size() - 7);
  auto job = is_id(id) ? jobs_.find(id) : nullptr;
  if (!job) throw Refusal{404, "job: expected one that this server knows, got an unknown or forgotten one"};
  return job;
}

}  // namespace spnn::studio
