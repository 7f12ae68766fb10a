#include <spnn/core/errors.h>
#include <spnn/projection/pseudo_inverse.h>

#include <array>

namespace spnn {
namespace {

template <class E>
struct Word {
  std::string_view text;
  E value;
};

constexpr std::array choices = {Word{"learned", PseudoInverse::learned}, Word{"origin", PseudoInverse::origin},
                                Word{"anchored", PseudoInverse::anchored}, Word{"random", PseudoInverse::random},
                                Word{"min-norm", PseudoInverse::min_norm}};
constexpr std::array metrics = {Word{"plain", Metric::plain}, Word{"residual", Metric::residual}};

template <class Words>
auto value_of(const Words& words, std::string_view text, std::string_view where) {
  std::string known;
  for (const auto& word : words) {
    if (word.text == text) return word.value;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", word.text);
  }
  fail(where, "one of " + known, fmt::format("'{}'", text));
}

template <class Words, class E>
std::string_view text_of(const Words& words, E value) {
  for (const auto& word : words) {
    if (word.value == value) return word.text;
  }
  return "?";
}

}  // namespace

PseudoInverse pseudo_inverse_from(std::string_view word) { return value_of(choices, word, "pseudo-inverse"); }
Metric metric_from(std::string_view word) { return value_of(metrics, word, "metric"); }
std::string_view to_string(PseudoInverse choice) { return text_of(choices, choice); }
std::string_view to_string(Metric metric) { return text_of(metrics, metric); }

}  // namespace spnn
