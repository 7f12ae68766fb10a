#include <spnn/checkpoint/pickle_globals.h>
#include <spnn/checkpoint/pickle_machine.h>
#include <spnn/core/text.h>

#include <bit>
#include <charconv>

namespace spnn {
namespace {

constexpr std::size_t most_values = 1 << 20;  // a state dict of 450 tensors has 15,000
constexpr std::size_t most_references = 1 << 22;
constexpr std::uint8_t newest_protocol = 5;
constexpr std::string_view plain = "tensors in dictionaries and lists";
constexpr std::string_view harmless = "nothing in the file was executed; save the state dict alone";

}  // namespace

PickleMachine::PickleMachine(std::deque<PickleValue>& values, Bytes bytes, const std::string& where)
    : values_(values), reader_(bytes, where) {}

void PickleMachine::refuse(std::string_view expected, std::string_view got, std::string_view hint) const {
  fail(fmt::format("{}: pickle at byte {}", reader_.where(), start_), expected, got, hint);
}

void PickleMachine::bound(std::size_t size) const {
  if (size >= most_values) refuse(fmt::format("at most {} values", most_values), "more");
}

// A remembered value costs two bytes to use again: what is copied out of it has its own budget.
void PickleMachine::spend(std::size_t references) {
  references_ += references;
  if (references_ > most_references) refuse(fmt::format("at most {} references", most_references), "more");
}

const PickleValue* PickleMachine::run() {
  for (;;) {
    start_ = reader_.position();
    const auto code = reader_.number<std::uint8_t>();
    if (code == '.') break;  // STOP
    if (!scalar(code) && !string(code) && !sequence(code) && !mapping(code) && !memo(code) && !call(code))
      refuse("an opcode that checkpoints use", fmt::format("0x{:02x}", code));
  }
  if (stack_.size() != 1 || !marks_.empty()) refuse("one value at the end", fmt::format("{}", stack_.size()));
  return stack_.back();
}

bool PickleMachine::scalar(std::uint8_t code) {
  switch (code) {
    case 'N': push({.kind = Kind::none}); break;
    case 0x88: push({.kind = Kind::boolean, .integer = 1}); break;   // NEWTRUE
    case 0x89: push({.kind = Kind::boolean, .integer = 0}); break;   // NEWFALSE
    case 'I':                                                        // INT
    case 'L': push_integer_line(); break;                            // LONG
    case 'J': push_integer(reader_.number<std::int32_t>()); break;   // BININT
    case 'K': push_integer(reader_.number<std::uint8_t>()); break;   // BININT1
    case 'M': push_integer(reader_.number<std::uint16_t>()); break;  // BININT2
    case 0x8a: push_long(reader_.number<std::uint8_t>()); break;     // LONG1
    case 'G': {                                                      // BINFLOAT, big-endian
      const auto bits = __builtin_bswap64(reader_.number<std::uint64_t>());
      push({.kind = Kind::real, .real = std::bit_cast<double>(bits)});
      break;
    }
    default: return false;
  }
  return true;
}

bool PickleMachine::string(std::uint8_t code) {
  switch (code) {
    case 'X': push_text(Kind::text, reader_.number<std::uint32_t>()); break;    // BINUNICODE
    case 0x8c: push_text(Kind::text, reader_.number<std::uint8_t>()); break;    // SHORT_BINUNICODE
    case 0x8d: push_text(Kind::text, reader_.number<std::uint64_t>()); break;   // BINUNICODE8
    case 'T': push_text(Kind::text, reader_.number<std::uint32_t>()); break;    // BINSTRING: Python 2's str
    case 'U': push_text(Kind::text, reader_.number<std::uint8_t>()); break;     // SHORT_BINSTRING
    case 'B': push_text(Kind::bytes, reader_.number<std::uint32_t>()); break;   // BINBYTES
    case 'C': push_text(Kind::bytes, reader_.number<std::uint8_t>()); break;    // SHORT_BINBYTES
    case 0x8e: push_text(Kind::bytes, reader_.number<std::uint64_t>()); break;  // BINBYTES8
    default: return false;
  }
  return true;
}

bool PickleMachine::sequence(std::uint8_t code) {
  switch (code) {
    case '(': bound(marks_.size()), marks_.push_back(stack_.size()); break;  // MARK
    case '0': pop(); break;                                                  // POP
    case '1': pop_to_mark(); break;                                          // POP_MARK
    case ')': push({.kind = Kind::tuple}); break;                            // EMPTY_TUPLE
    case 't': push({.kind = Kind::tuple, .items = pop_to_mark()}); break;    // TUPLE
    case 0x85: push({.kind = Kind::tuple, .items = pop_count(1)}); break;    // TUPLE1
    case 0x86: push({.kind = Kind::tuple, .items = pop_count(2)}); break;    // TUPLE2
    case 0x87: push({.kind = Kind::tuple, .items = pop_count(3)}); break;    // TUPLE3
    case ']': push({.kind = Kind::list}); break;                             // EMPTY_LIST
    case 'l': push({.kind = Kind::list, .items = pop_to_mark()}); break;     // LIST
    case 'a': extend_list(pop_count(1)); break;                              // APPEND
    case 'e': extend_list(pop_to_mark()); break;                             // APPENDS
    default: return false;
  }
  return true;
}

bool PickleMachine::mapping(std::uint8_t code) {
  switch (code) {
    case '}': push({.kind = Kind::dict}); break;  // EMPTY_DICT
    case 's': extend_dict(pop_count(2)); break;   // SETITEM
    case 'u': extend_dict(pop_to_mark()); break;  // SETITEMS
    case 'd': {                                   // DICT
      const auto items = pop_to_mark();
      push({.kind = Kind::dict});
      extend_dict(items);
      break;
    }
    default: return false;
  }
  return true;
}

bool PickleMachine::memo(std::uint8_t code) {
  switch (code) {
    case 'q': remember(reader_.number<std::uint8_t>()); break;   // BINPUT
    case 'r': remember(reader_.number<std::uint32_t>()); break;  // LONG_BINPUT
    case 0x94: remember(memo_.size()); break;                    // MEMOIZE
    case 'h': recall(reader_.number<std::uint8_t>()); break;     // BINGET
    case 'j': recall(reader_.number<std::uint32_t>()); break;    // LONG_BINGET
    case '2': push(&top()); break;                               // DUP
    default: return false;
  }
  return true;
}

bool PickleMachine::call(std::uint8_t code) {
  switch (code) {
    case 0x80: {  // PROTO
      const auto protocol = reader_.number<std::uint8_t>();
      if (protocol > newest_protocol) refuse("protocol 5 or older", fmt::format("{}", protocol));
      break;
    }
    case 0x95: reader_.number<std::uint64_t>(); break;  // FRAME: only a hint for buffering
    case 'c': {                                         // GLOBAL
      const auto module = line();
      push_global(module, line());
      break;
    }
    case 0x93: push_stack_global(); break;  // STACK_GLOBAL
    case 'Q': push_persistent(); break;     // BINPERSID
    case 'R': push_call(); break;           // REDUCE
    case 'b': drop_state(); break;          // BUILD
    case 'i': {                             // INST
      const auto module = line();
      refuse(plain, fmt::format("an object of {}", in_quotes(module + "." + line())), harmless);
    }
    case 'o':                                                           // OBJ
    case 0x81:                                                          // NEWOBJ
    case 0x92: refuse(plain, "an object of a Python class", harmless);  // NEWOBJ_EX
    default: return false;
  }
  return true;
}

void PickleMachine::push(PickleValue* value) {
  bound(stack_.size());
  stack_.push_back(value);
}

void PickleMachine::push(PickleValue value) {
  bound(values_.size());
  push(&values_.emplace_back(std::move(value)));
}

void PickleMachine::push_long(std::uint64_t count) {  // two's complement, little-endian
  if (count > sizeof(std::int64_t)) refuse("an integer of at most 8 bytes", fmt::format("{}", count));
  const auto bytes = reader_.take(count);
  const bool negative = count > 0 && (bytes.back() & std::byte{0x80}) != std::byte{0};
  std::int64_t value = negative ? -1 : 0;
  if (count > 0) std::memcpy(&value, bytes.data(), count);
  push_integer(value);
}

void PickleMachine::push_integer_line() {
  const auto text = line();
  if (text == "00" || text == "01") return push({.kind = Kind::boolean, .integer = text == "01"});
  const auto digits = std::string_view(text).substr(0, text.size() - (text.ends_with('L') ? 1 : 0));
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size()) refuse("an integer", in_quotes(text));
  push_integer(value);
}

void PickleMachine::push_global(const std::string& module, const std::string& name) {
  const auto full = module + "." + name;
  if (!is_allowed_global(full)) refuse(plain, fmt::format("the global {}", in_quotes(full)), harmless);
  push({.kind = Kind::global, .text = full});
}

void PickleMachine::push_stack_global() {
  const auto names = pop_count(2);
  if (!names[0]->is(Kind::text) || !names[1]->is(Kind::text))
    refuse("a module and a name", names[0]->describe());
  push_global(names[0]->text, names[1]->text);
}

void PickleMachine::push_persistent() {
  const auto* id = pop();
  if (!id->is(Kind::tuple)) refuse("a storage", id->describe());
  spend(id->items.size());
  push({.kind = Kind::persistent, .items = id->items});
}

// OrderedDict and Size become what they hold; a tensor stays a call, to be read when its storage is known.
void PickleMachine::push_call() {
  const auto* arguments = pop();
  const auto* function = pop();
  if (!function->is(Kind::global))
    refuse("a call of a global", fmt::format("one of {}", function->describe()), harmless);
  if (!arguments->is(Kind::tuple)) refuse("arguments", arguments->describe());
  const auto& name = function->text;
  const auto& items = arguments->items;
  spend(items.size());
  if (name == pickle_globals::ordered_dict) {
    if (items.size() > 1 || (items.size() == 1 && !items[0]->is_sequence()))
      refuse("an OrderedDict", "arguments");
    push({.kind = Kind::dict});
    if (items.empty()) return;
    for (const auto* pair : items[0]->items) {  // Python 2 gives the pairs here
      if (!pair->is_sequence() || pair->items.size() != 2) refuse("pairs", pair->describe());
      extend_dict(pair->items);
    }
  } else if (name == pickle_globals::size) {
    if (items.size() != 1 || !items[0]->is_sequence()) refuse("a Size", arguments->describe());
    spend(items[0]->items.size());
    push({.kind = Kind::tuple, .items = items[0]->items});
  } else if (name.starts_with("torch._utils.")) {
    push({.kind = Kind::call, .text = name, .items = items});
  } else {
    refuse(plain, fmt::format("a call of {}", in_quotes(name)), harmless);
  }
}

// An OrderedDict's attributes (`_metadata`) say nothing that we need.
void PickleMachine::drop_state() {
  const auto* state = pop();
  if (!top().is(Kind::dict) || !state->is(Kind::dict))
    refuse(plain, fmt::format("a state for {}", top().describe()), harmless);
}

PickleValue& PickleMachine::top() {
  if (stack_.size() <= floor()) refuse("a value on the stack", "none");
  return *stack_.back();
}

PickleValue* PickleMachine::pop() {
  auto* value = &top();
  stack_.pop_back();
  return value;
}

PickleMachine::Items PickleMachine::pop_count(int count) {
  Items items(static_cast<std::size_t>(count));
  for (auto item = items.rbegin(); item != items.rend(); ++item) *item = pop();
  return items;
}

PickleMachine::Items PickleMachine::pop_to_mark() {
  if (marks_.empty()) refuse("a mark on the stack", "none");
  const Items items(stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back()), stack_.end());
  stack_.resize(marks_.back());
  marks_.pop_back();
  return items;
}

void PickleMachine::extend_list(const Items& items) {
  auto& list = top();
  if (!list.is(Kind::list)) refuse("a list", list.describe());
  spend(items.size());
  list.items.insert(list.items.end(), items.begin(), items.end());
}

void PickleMachine::extend_dict(const Items& items) {
  auto& dict = top();
  if (!dict.is(Kind::dict)) refuse("a dict", dict.describe());
  if (items.size() % 2 != 0) refuse("keys with values", "a key without one");
  spend(items.size());
  dict.items.insert(dict.items.end(), items.begin(), items.end());
}

void PickleMachine::remember(std::uint64_t key) {
  bound(memo_.size());
  memo_[key] = &top();
}

void PickleMachine::recall(std::uint64_t key) {
  const auto found = memo_.find(key);
  if (found == memo_.end()) refuse("a value remembered before", fmt::format("number {}", key));
  push(found->second);
}

std::string PickleMachine::line() {
  constexpr std::size_t longest = 512;
  std::string text;
  for (char c = reader_.number<char>(); c != '\n'; c = reader_.number<char>()) {
    if (text.size() == longest) refuse("a line", "one without an end");
    text += c;
  }
  return text;
}

}  // namespace spnn
