#include "mutate.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace spnn::fuzz {
namespace {

class Mutation {
 public:
  Mutation(Input& input, const Input& other, const Target& target, std::mt19937_64& random)
      : input_(input), other_(other), target_(target), random_(random) {}

  void change() {
    switch (below(10)) {
      case 0: return flip_bit();
      case 1: return set_byte();
      case 2: return set_number();
      case 3: return erase();
      case 4: return insert_bytes();
      case 5: return repeat_part();
      case 6: return insert_word();
      case 7: return change_digits();
      case 8: return take_from_other();
      default: return overwrite_with_word();
    }
  }

 private:
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }
  std::size_t place() { return below(input_.size()); }
  auto at(std::size_t i) { return input_.begin() + static_cast<std::ptrdiff_t>(i); }

  void flip_bit() {
    if (!input_.empty()) input_[place()] ^= static_cast<std::uint8_t>(1U << below(8));
  }
  void set_byte() {
    if (!input_.empty()) input_[place()] = static_cast<std::uint8_t>(random_());
  }
  // Numbers at which arithmetic goes wrong, in both byte orders.
  void set_number() {
    static constexpr std::array<std::uint64_t, 14> numbers = {0, 1, 2, 127, 128, 255, 256, 32767, 65535, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF,
                                                              0x7FFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF};
    const std::size_t width = std::size_t{1} << below(4);
    if (input_.size() < width) return;
    auto value = numbers[below(numbers.size())] + below(3) - 1;
    const bool big = below(2) == 1;
    const auto from = below(input_.size() - width + 1);
    for (std::size_t i = 0; i < width; ++i, value >>= 8) input_[big ? from + width - 1 - i : from + i] = static_cast<std::uint8_t>(value);
  }
  void erase() {
    if (input_.empty()) return;
    const auto from = place();
    const auto count = 1 + below(std::min<std::size_t>(input_.size() - from, below(8) == 0 ? input_.size() : 16));
    input_.erase(at(from), at(std::min(from + count, input_.size())));
  }
  void insert(std::size_t where, View bytes) { input_.insert(at(where), bytes.begin(), bytes.end()); }
  void insert_bytes() {
    Input some(1 + below(16));
    const auto byte = static_cast<std::uint8_t>(random_());
    for (auto& b : some) b = below(2) ? byte : static_cast<std::uint8_t>(random_());
    insert(below(input_.size() + 1), some);
  }
  void repeat_part() {
    if (input_.empty()) return;
    const auto from = place(), count = 1 + below(std::min<std::size_t>(input_.size() - from, 256));
    const Input part(at(from), at(from + count));
    const auto where = below(input_.size() + 1);
    for (auto times = 1 + below(below(16) == 0 ? 64 : 3); times > 0; --times) insert(where, part);
  }
  View word() {
    const auto& text = target_.words[below(target_.words.size())];
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
  }
  void insert_word() {
    if (!target_.words.empty()) insert(below(input_.size() + 1), word());
  }
  void overwrite_with_word() {
    if (target_.words.empty()) return flip_bit();
    const auto text = word();
    if (text.size() > input_.size()) return;
    std::copy(text.begin(), text.end(), at(below(input_.size() - text.size() + 1)));
  }
  // A number written in digits becomes another.
  void change_digits() {
    const auto is_digit = [](std::uint8_t c) { return c >= '0' && c <= '9'; };
    const auto from = std::find_if(at(place()), input_.end(), is_digit);
    if (from == input_.end()) return;
    const auto to = std::find_if_not(from, input_.end(), is_digit);
    static constexpr std::array<const char*, 9> texts = {"0", "1", "-1", "65537", "4294967296", "9223372036854775807", "18446744073709551616", "1e309", "00"};
    const std::string text = below(2) ? texts[below(texts.size())] : std::to_string(random_() >> below(64));
    const auto where = from - input_.begin();
    input_.erase(from, to);
    insert(static_cast<std::size_t>(where), {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  }
  void take_from_other() {
    if (other_.empty()) return;
    const auto from = below(other_.size()), count = 1 + below(std::min<std::size_t>(other_.size() - from, 512));
    const View part(other_.data() + from, count);
    if (below(2)) return insert(below(input_.size() + 1), part);
    input_.resize(below(input_.size() + 1));
    input_.insert(input_.end(), other_.begin() + static_cast<std::ptrdiff_t>(from), other_.end());
  }

  Input& input_;
  const Input& other_;
  const Target& target_;
  std::mt19937_64& random_;
};

}  // namespace

Input mutated(const Input& from, const Input& other, const Target& target, std::mt19937_64& random) {
  Input input = from;
  Mutation mutation(input, other, target, random);
  for (auto changes = std::uint64_t{1} << random() % 4; changes > 0; --changes) mutation.change();
  if (input.size() > target.longest) input.resize(target.longest);
  if (target.repair && random() % 8 != 0) target.repair(input);   // sometimes a checksum stays wrong
  return input;
}

}  // namespace spnn::fuzz
