#pragma once

#include <spnn/core/config.h>
#include <spnn/core/names.h>

#include <set>
#include <string>

namespace spnn {

// Reads the fields of a configuration object into a struct. A wrong type or an unknown key is an error that names both
// the section and the key; nothing is ignored in silence.
//   JsonFields(json, "unet").optional("ch", c.ch).required("image_size", c.image_size).no_others();
class JsonFields {
 public:
  JsonFields(const Json& json, std::string section) : json_(json), section_(std::move(section)) {
    require(json.is_object(), section_, "a table of settings", json.dump());
  }

  template <class T>
  JsonFields& optional(const std::string& key, T& value) {
    known_.insert(key);
    if (json_.contains(key)) read(key, value);
    return *this;
  }

  template <class T>
  JsonFields& required(const std::string& key, T& value) {
    known_.insert(key);
    require(json_.contains(key), section_, fmt::format("the key '{}'", key), "none");
    read(key, value);
    return *this;
  }

  // One of the words of an enumeration's table (core/names.h). Absent: unchanged.
  template <class Table, class E>
  JsonFields& word(const std::string& key, const Table& words, E& value) {
    std::string text;
    optional(key, text);
    if (json_.contains(key)) value = value_named(words, text, path(key));
    return *this;
  }

  // A value for another reader: a table or a list. It must be there; `path` names it in that reader's errors.
  const Json& at(const std::string& key) {
    known_.insert(key);
    require(json_.contains(key), section_, fmt::format("the key '{}'", key), "none");
    return json_.at(key);
  }

  bool has(const std::string& key) const { return json_.contains(key); }
  std::string path(const std::string& key) const { return section_ + "." + key; }

  void no_others() const {
    for (const auto& [key, value] : json_.items()) {
      if (!known_.contains(key)) {
        std::string names;
        for (const auto& name : known_) names += (names.empty() ? "" : ", ") + name;
        fail(section_, "one of " + names, fmt::format("'{}'", key));
      }
    }
  }

 private:
  template <class T>
  void read(const std::string& key, T& value) {
    try {
      value = json_.at(key).get<T>();
    } catch (const Json::exception&) {
      fail(path(key), "a value of the right type", json_.at(key).dump());
    }
  }

  const Json& json_;
  std::string section_;
  std::set<std::string> known_;
};

}  // namespace spnn
