#pragma once

// Between Beast's messages and ours. Only server.cpp includes this: Beast's headers take long to compile.

#include <boost/beast/http/error.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <algorithm>
#include <cctype>
#include <string>

#include "http.h"

namespace spnn::studio {

namespace http = boost::beast::http;

inline Request plain_request(const http::request<http::string_body>& message, const std::string& peer) {
  Request request;
  request.method = std::string(message.method_string());
  const auto target = std::string(message.target());
  request.path = target.substr(0, target.find_first_of("?#"));
  request.peer = peer;
  for (const auto& field : message) {
    auto name = std::string(field.name_string());
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    auto& value = request.headers[name];
    value += (value.empty() ? "" : ", ") + std::string(field.value());
  }
  return request;
}

template <class Message>
void add_common_headers(Message& message, bool api) {
  message.set("X-Content-Type-Options", "nosniff");
  message.set("Content-Security-Policy", api ? "default-src 'none'; frame-ancestors 'none'"
                                             : "default-src 'none'; script-src 'self'; style-src 'self'; img-src "
                                               "'self' blob: data:; connect-src 'self'; base-uri 'none'; "
                                               "form-action 'none'; frame-ancestors 'none'");
  message.set("Cross-Origin-Resource-Policy", "same-origin");
  message.set("Cross-Origin-Opener-Policy", "same-origin");
  message.set("Referrer-Policy", "no-referrer");
  message.set("X-Frame-Options", "DENY");
  message.set(http::field::cache_control, "no-store");
}

inline Request nameless(const std::string& peer) {
  Request request;
  request.method = request.path = "?";
  request.peer = peer;
  return request;
}

inline Refusal read_failure(const boost::system::error_code& error, bool late) {
  if (late) return {408, "request: expected it in time, got it too slowly"};
  if (error == http::error::header_limit || error == http::error::buffer_overflow)
    return {431, "headers: expected fewer bytes, got too many"};
  if (error == http::error::body_limit) return {413, "body: expected fewer bytes, got too many"};
  return {400, "request: expected HTTP/1.1, got something else"};
}

inline bool is_parse_error(const boost::system::error_code& error) {
  return error.category() == http::make_error_code(http::error::bad_method).category();
}

}  // namespace spnn::studio
