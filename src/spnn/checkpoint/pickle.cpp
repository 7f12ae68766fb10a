#include <spnn/checkpoint/pickle.h>
#include <spnn/checkpoint/pickle_machine.h>
#include <spnn/core/text.h>

namespace spnn {
namespace {

constexpr std::size_t longest_pickle = 16 << 20;  // 450 tensors take 60 kB

}  // namespace

const PickleValue* PickleValue::find(std::string_view key) const {
  if (!is(Kind::dict)) return nullptr;
  for (std::size_t i = items.size(); i >= 2; i -= 2)
    if (items[i - 2]->is(Kind::text) && items[i - 2]->text == key) return items[i - 1];
  return nullptr;
}

std::string PickleValue::describe() const {
  switch (kind) {
    case Kind::none: return "None";
    case Kind::boolean: return integer ? "True" : "False";
    case Kind::integer: return fmt::format("the number {}", integer);
    case Kind::real: return fmt::format("the number {}", real);
    case Kind::text: return fmt::format("the text {}", in_quotes(text));
    case Kind::bytes: return fmt::format("{} bytes", text.size());
    case Kind::tuple: return fmt::format("a tuple of {}", items.size());
    case Kind::list: return fmt::format("a list of {}", items.size());
    case Kind::dict: return fmt::format("a dict of {}", items.size() / 2);
    case Kind::global: return fmt::format("the global {}", in_quotes(text));
    case Kind::call: return fmt::format("a call of {}", in_quotes(text));
    case Kind::persistent: return "a storage";
  }
  return "nothing";
}

Pickle::Pickle(Bytes bytes, const std::string& where) {
  PickleMachine machine(values_, bytes.first(std::min(bytes.size(), longest_pickle)), where);
  root_ = machine.run();
  length_ = machine.position();
}

}  // namespace spnn
