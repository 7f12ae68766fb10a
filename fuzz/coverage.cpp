// GCC calls __sanitizer_cov_trace_pc at every branch of what is compiled with -fsanitize-coverage=trace-pc. This file is not.

#include <array>
#include <cstddef>
#include <cstdint>

#include "fuzz.h"

namespace {

constexpr std::size_t kPlaces = 1 << 16;
std::array<std::uint8_t, kPlaces> counts, known;
std::array<std::uint16_t, 1 << 14> passed;      // which counts are not zero: clearing all of them would cost more than a run
std::size_t how_many = 0, found = 0;
thread_local bool counting = false;
thread_local std::uintptr_t before = 0;

// A loop that goes round twice as often is news, once more is not.
std::uint8_t bucket(std::uint8_t count) {
  if (count < 4) return static_cast<std::uint8_t>(1U << (count - 1));
  if (count < 8) return 8;
  if (count < 16) return 16;
  return count < 128 ? 32 : 64;
}

}  // namespace

extern "C" void __sanitizer_cov_trace_pc() {
  if (!counting) return;
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  const auto place = static_cast<std::uint16_t>((here ^ (before >> 1)) * 0x9E3779B97F4A7C15ULL >> 48);
  before = here;
  if (counts[place] == 0 && how_many < passed.size()) passed[how_many++] = place;
  if (counts[place] < 255) ++counts[place];
}

namespace spnn::fuzz {

void Coverage::start() {
  before = 0;
  counting = true;
}

bool Coverage::stop_and_see_new() {
  counting = false;
  bool fresh = false;
  for (std::size_t i = 0; i < how_many; ++i) {
    const auto place = passed[i];
    const auto bits = bucket(counts[place]);
    if (known[place] == 0) ++found;
    fresh = fresh || (known[place] & bits) == 0;
    known[place] = static_cast<std::uint8_t>(known[place] | bits);
    counts[place] = 0;
  }
  if (how_many == passed.size()) counts.fill(0);   // the list was full
  how_many = 0;
  return fresh;
}

std::size_t Coverage::places() { return found; }

}  // namespace spnn::fuzz
