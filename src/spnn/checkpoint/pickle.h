#pragma once

#include <spnn/core/io.h>

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace spnn {

// A value of a pickle. Python's unpickler runs what a file asks for; ours only builds a tree, and a call of
// one of the few functions it lets pass stays a value (`call`) that the reader of tensors interprets.
struct PickleValue {
  enum class Kind { none, boolean, integer, real, text, bytes, tuple, list, dict, global, call, persistent };

  Kind kind = Kind::none;
  std::int64_t integer = 0;  // boolean, integer
  double real = 0;
  std::string text = {};  // text, bytes; "module.name" of a global or call
  // Of a tuple or list; the arguments of a call or persistent id; of a dict: key, value, key, value, …
  std::vector<const PickleValue*> items = {};

  bool is(Kind k) const { return kind == k; }
  bool is_sequence() const { return kind == Kind::tuple || kind == Kind::list; }

  // The value under a text key of a dict, the last one if there are several; null if none.
  const PickleValue* find(std::string_view key) const;
  std::string describe() const;  // "a list of 5", "the text 'abc'"
};

// One pickle, read. Errors name `where` and the position; a global outside the allow-list is refused by name.
// Nothing in it recurses, so nesting cannot exhaust the stack, and sizes are bounded by the bytes there are.
class Pickle {
 public:
  Pickle(Bytes bytes, const std::string& where);  // bytes begin with the pickle; more may follow
  Pickle(const Pickle&) = delete;
  Pickle& operator=(const Pickle&) = delete;

  const PickleValue& root() const { return *root_; }
  std::size_t length() const { return length_; }                     // bytes of this pickle
  const std::deque<PickleValue>& values() const { return values_; }  // every value, in the order of the file

 private:
  std::deque<PickleValue>
      values_;  // owns every value: shared and cyclic references are plain pointers into it
  const PickleValue* root_ = nullptr;
  std::size_t length_ = 0;
};

}  // namespace spnn
