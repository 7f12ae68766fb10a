#pragma once

// Reading JSON that a stranger wrote: bounded in depth, every field known, every number in its range.

#include <nlohmann/json_fwd.hpp>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "http.h"

namespace spnn::studio {

using Json = nlohmann::json;

// Throws Refusal 400 for what is no JSON object, or nests deeper.
Json parse_object(std::string_view text, std::size_t depth);

// A JSON object whose fields are taken one by one; finish() refuses those that nobody took. Every failure is a
// Refusal 400 that names the field: "keep: expected a number in [0, 1], got 2".
class Fields {
 public:
  Fields(const Json& object, std::string where = "");

  bool has(const std::string& name) const;
  double number(const std::string& name, double low, double high, double otherwise);
  std::int64_t whole(const std::string& name, std::int64_t low, std::int64_t high, std::int64_t otherwise);
  bool flag(const std::string& name, bool otherwise);
  std::string text(const std::string& name, std::size_t longest, const std::string& otherwise);
  std::string one_of(const std::string& name, const std::vector<std::string>& choices, const std::string& otherwise);
  const Json& object(const std::string& name);  // an empty one if it is not there
  void finish() const;

  [[noreturn]] void fail(const std::string& name, const std::string& expected, const std::string& got) const;

 private:
  const Json* take(const std::string& name);
  std::string path(const std::string& name) const { return where_.empty() ? name : where_ + "." + name; }

  const Json& object_;
  std::string where_;
  std::set<std::string> taken_;
};

// A number as a person reads it, a text cut short: for messages.
std::string shown(const Json& value);

}  // namespace spnn::studio
