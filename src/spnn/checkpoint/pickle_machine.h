#pragma once

#include <spnn/checkpoint/byte_reader.h>
#include <spnn/checkpoint/pickle.h>

#include <unordered_map>

namespace spnn {

// Python's pickle machine without its arms: a stack with marks in it and a memo. Internal to pickle.cpp.
class PickleMachine {
 public:
  PickleMachine(std::deque<PickleValue>& values, Bytes bytes, const std::string& where);

  const PickleValue* run();
  std::size_t position() const { return reader_.position(); }

 private:
  using Items = std::vector<const PickleValue*>;
  using Kind = PickleValue::Kind;

  [[noreturn]] void refuse(std::string_view expected, std::string_view got, std::string_view hint = {}) const;
  void bound(std::size_t size) const;
  void spend(std::size_t references);

  // Each group of opcodes answers whether the code was one of its own.
  bool scalar(std::uint8_t code);
  bool string(std::uint8_t code);
  bool sequence(std::uint8_t code);
  bool mapping(std::uint8_t code);
  bool memo(std::uint8_t code);
  bool call(std::uint8_t code);

  void push(PickleValue value);
  void push(PickleValue* value);
  void push_integer(std::int64_t value) { push({.kind = Kind::integer, .integer = value}); }
  void push_long(std::uint64_t count);
  void push_integer_line();
  void push_text(Kind kind, std::uint64_t length) { push({.kind = kind, .text = reader_.text(length)}); }
  void push_global(const std::string& module, const std::string& name);
  void push_stack_global();
  void push_persistent();
  void push_call();
  void drop_state();

  std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  PickleValue& top();
  PickleValue* pop();
  Items pop_count(int count);
  Items pop_to_mark();
  void extend_list(const Items& items);
  void extend_dict(const Items& items);
  void remember(std::uint64_t key);
  void recall(std::uint64_t key);
  std::string line();

  std::deque<PickleValue>& values_;
  ByteReader reader_;
  std::size_t references_ = 0;
  std::size_t start_ = 0;  // of the current opcode, for errors
  std::vector<PickleValue*> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint64_t, PickleValue*> memo_;
};

}  // namespace spnn
