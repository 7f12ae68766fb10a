#pragma once

#include <fmt/format.h>

#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

namespace spnn {

// Every failure the library reports. The text reads "where: expected …, got …", with a hint where one helps.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The caller asked for something that cannot be: the command line answers with exit code 2 instead of 1.
class UsageError : public Error {
 public:
  using Error::Error;
};

// The user interrupted the work; what was finished is kept.
class Interrupted : public Error {
 public:
  using Error::Error;
};

[[noreturn]] void fail(std::string_view where, std::string_view expected, std::string_view got,
                       std::string_view hint = {});

// requires: nothing. ensures: returns when `ok`, throws Error("where: expected …, got …") otherwise.
inline void require(bool ok, std::string_view where, std::string_view expected, std::string_view got,
                    std::string_view hint = {}) {
  if (!ok) fail(where, expected, got, hint);
}

// c10::Error carries two kilobytes of backtrace in what(); users get the sentence.
std::string what_without_backtrace(const std::exception& error);

}  // namespace spnn
