#include "fields.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace spnn::studio {
namespace {

// Before parsing: a parser that nests as deep as a stranger likes is a stack that a stranger fills.
void require_depth(std::string_view text, std::size_t most) {
  std::size_t depth = 0;
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inside) {
      if (c == '\\') ++i;
      else if (c == '"') inside = false;
    } else if (c == '"') inside = true;
    else if (c == '[' || c == '{') {
      if (++depth > most) throw Refusal{400, "JSON: expected at most " + std::to_string(most) + " levels, got more"};
    } else if ((c == ']' || c == '}') && depth > 0) --depth;
  }
}

}  // namespace

std::string shown(const Json& value) {
  auto text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

Json parse_object(std::string_view text, std::size_t depth) {
  require_depth(text, depth);
  Json json;
  try {
    json = Json::parse(text.begin(), text.end());
  } catch (const Json::exception&) { throw Refusal{400, "JSON: expected an object, got text that is no JSON"}; }
  if (!json.is_object()) throw Refusal{400, "JSON: expected an object, got " + std::string(json.type_name())};
  return json;
}

Fields::Fields(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
  if (!object_.is_object()) throw Refusal{400, where_ + ": expected an object, got " + shown(object_)};
}

bool Fields::has(const std::string& name) const { return object_.contains(name); }

void Fields::fail(const std::string& name, const std::string& expected, const std::string& got) const {
  throw Refusal{400, path(name) + ": expected " + expected + ", got " + got};
}

const Json* Fields::take(const std::string& name) {
  taken_.insert(name);
  const auto found = object_.find(name);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

double Fields::number(const std::string& name, double low, double high, double otherwise) {
  const auto* value = take(name);
  if (!value) return otherwise;
  const auto expected = "a number in [" + shown(Json(low)) + ", " + shown(Json(high)) + "]";
  if (!value->is_number()) fail(name, expected, shown(*value));
  const auto number = value->get<double>();
  if (!std::isfinite(number) || number < low || number > high) fail(name, expected, shown(*value));
  return number;
}

std::int64_t Fields::whole(const std::string& name, std::int64_t low, std::int64_t high, std::int64_t otherwise) {
  const auto number =
      this->number(name, static_cast<double>(low), static_cast<double>(high), static_cast<double>(otherwise));
  if (number != std::floor(number)) fail(name, "a whole number", shown(object_.at(name)));
  return static_cast<std::int64_t>(number);
}

bool Fields::flag(const std::string& name, bool otherwise) {
  const auto* value = take(name);
  if (!value) return otherwise;
  if (!value->is_boolean()) fail(name, "true or false", shown(*value));
  return value->get<bool>();
}

std::string Fields::text(const std::string& name, std::size_t longest, const std::string& otherwise) {
  const auto* value = take(name);
  if (!value) return otherwise;
  if (!value->is_string()) fail(name, "a text", shown(*value));
  auto text = value->get<std::string>();
  if (text.size() > longest)
    fail(name, "at most " + std::to_string(longest) + " characters", std::to_string(text.size()));
  return text;
}

std::string Fields::one_of(const std::string& name, const std::vector<std::string>& choices,
                           const std::string& otherwise) {
  const auto chosen = text(name, 64, otherwise);
  if (std::find(choices.begin(), choices.end(), chosen) != choices.end()) return chosen;
  std::string all;
  for (const auto& choice : choices) all += (all.empty() ? "" : ", ") + choice;
  fail(name, "one of " + all, shown(Json(chosen)));
}

const Json& Fields::object(const std::string& name) {
  static const Json empty = Json::object();
  const auto* value = take(name);
  if (!value) return empty;
  if (!value->is_object()) fail(name, "an object", shown(*value));
  return *value;
}

void Fields::finish() const {
  for (const auto& [name, value] : object_.items())
    if (!taken_.contains(name))
      throw Refusal{400, path(name.substr(0, 40)) + ": expected a known field, got this one"};
}

}  // namespace spnn::studio
