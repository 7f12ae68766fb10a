#pragma once

#include <spnn/core/config.h>
#include <spnn/core/errors.h>

#include <initializer_list>
#include <set>
#include <string>
#include <utility>

namespace spnn {

// Reads the fields of one JSON object and complains about what nobody asked for: a misspelt key must not be ignored.
class JsonFields {
 public:
  JsonFields(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
    require(json.is_object(), where_, "a table", json.type_name());
  }

  bool has(const char* key) const { return json_.contains(key); }

  const Json& at(const char* key) {
    require(has(key), where_, fmt::format("the key '{}'", key), "none");
    seen_.insert(key);
    return json_.at(key);
  }

  template <class T>
  T get(const char* key) {
    const auto& value = at(key);
    try {
      return value.template get<T>();
    } catch (const Json::exception&) {
      fail(path(key), "another type", value.dump());
    }
  }

  template <class T>
  T get(const char* key, T otherwise) {
    return has(key) ? get<T>(key) : std::move(otherwise);
  }

  // One of a few words, as an enum.
  template <class E>
  E word(const char* key, std::initializer_list<std::pair<const char*, E>> words, E otherwise) {
    if (!has(key)) return otherwise;
    const auto text = get<std::string>(key);
    std::string known;
    for (const auto& [name, value] : words) {
      if (text == name) return value;
      known += (known.empty() ? "" : ", ") + std::string(name);
    }
    fail(path(key), "one of " + known, "'" + text + "'");
  }

  std::string path(const std::string& key) const { return where_ + "." + key; }

  // ensures: every key was read.
  void done() const {
    for (const auto& [key, value] : json_.items()) {
      require(seen_.contains(key), where_, "only known keys", "'" + key + "'");
    }
  }

 private:
  const Json& json_;
  std::string where_;
  std::set<std::string> seen_;
};

}  // namespace spnn
