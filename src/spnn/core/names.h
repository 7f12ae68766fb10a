#pragma once

// One table of names for each enumeration: parsers, help texts and errors read it.

#include <spnn/core/errors.h>

#include <string>
#include <string_view>
#include <vector>

namespace spnn {

template <class E>
struct Named {
  E value;
  std::string_view name;
};

template <class Table>
std::string names_of(const Table& table) {
  std::string all;
  for (const auto& entry : table) all += fmt::format("{}{}", all.empty() ? "" : ", ", entry.name);
  return all;
}

template <class Table>
std::vector<std::string> words_of(const Table& table) {
  std::vector<std::string> words;
  for (const auto& entry : table) words.emplace_back(entry.name);
  return words;
}

// The value of this name. An unknown one is an error that lists all.
template <class Table>
auto value_named(const Table& table, std::string_view name, std::string_view where) {
  for (const auto& entry : table) {
    if (entry.name == name) return entry.value;
  }
  fail(where, "one of " + names_of(table), fmt::format("'{}'", name));
}

template <class Table, class E>
std::string_view name_of(const Table& table, E value) {
  for (const auto& entry : table) {
    if (entry.value == value) return entry.name;
  }
  fail("an enumeration", "one of " + names_of(table), "another value");
}

}  // namespace spnn
