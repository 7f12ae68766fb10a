#include "guard.h"

#include <sys/random.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

namespace spnn::studio {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

bool is_our_host(const Door& door, std::string_view host) {
  const auto given = lower(host);
  const auto port = ":" + std::to_string(door.port);
  return std::any_of(door.names.begin(), door.names.end(), [&](const std::string& name) {
    return given == name + port || (door.port == 80 && given == name);
  });
}

// What a client sent, fit for a log line or an answer.
std::string printable(std::string_view text) {
  std::string out;
  for (const unsigned char c : text.substr(0, 80))
    out += c >= 32 && c < 127 && c != '"' && c != '\\' ? static_cast<char>(c) : '?';
  return out;
}

}  // namespace

std::optional<Refusal> refused_at(const Door& door, const Request& request) {
  const auto host = request.header("host");
  if (host.empty()) return Refusal{400, "Host: expected one, got none"};
  if (!is_our_host(door, host))
    return Refusal{421, "Host: expected this machine's name and port, got '" + printable(host) + "'"};

  if (request.has("origin") && lower(request.header("origin")) != "http://" + lower(host))
    return Refusal{403, "Origin: expected this server's own page, got '" + printable(request.header("origin")) + "'"};
  // Other servers on localhost are "same-site": only our own page is "same-origin". A person who types the address is
  // "none".
  const auto site = request.header("sec-fetch-site");
  const bool opens_page = request.path == "/" && request.header("sec-fetch-mode") == "navigate";
  if (!site.empty() && site != "same-origin" && site != "none" && !opens_page)
    return Refusal{403, "Sec-Fetch-Site: expected same-origin, got '" + printable(site) + "'"};

  if (request.has("content-encoding"))
    return Refusal{415,
                   "Content-Encoding: expected none, got '" + printable(request.header("content-encoding")) + "'"};
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (!reads && !same_secret(request.header("x-spnn-token"), door.token))
    return Refusal{401,
                   "X-Spnn-Token: expected the token of this server's page, got " +
                       std::string(request.has("x-spnn-token") ? "another" : "none"),
                   {{"WWW-Authenticate", "X-Spnn-Token"}}};
  return {};
}

bool same_secret(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < b.size(); ++i)
    difference |= static_cast<unsigned char>(b[i]) ^ static_cast<unsigned char>(i < a.size() ? a[i] : 0);
  return difference == 0;
}

std::string random_name() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
    throw std::runtime_error("studio: expected random bytes of the system, got none");
  std::string name;
  for (const auto byte : bytes) {
    name += "0123456789abcdef"[byte >> 4];
    name += "0123456789abcdef"[byte & 15];
  }
  return name;
}

}  // namespace spnn::studio
