#pragma once

#include <gmock/gmock.h>
#include <spnn/core/errors.h>

#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace spnn::testing {

using ByteReader = std::function<void(std::span<const std::byte>)>;

// The text of the Error that `read` answers with; "" when it accepts. Any other exception fails the test.
inline std::string refusal(const std::function<void()>& read) {
  try {
    read();
    return {};
  } catch (const Error& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "not an spnn::Error: " << error.what();
    return error.what();
  }
}

// A copy of exactly `size` bytes on the heap, so that a sanitizer sees a read past its end.
inline std::string refusal(const ByteReader& read, std::span<const std::byte> bytes) {
  const std::vector<std::byte> exact(bytes.begin(), bytes.end());
  return refusal([&] { read(exact); });
}

// Law: every proper prefix of a good file is refused.
inline void expect_every_truncation_refused(const ByteReader& read, std::span<const std::byte> good) {
  EXPECT_EQ(refusal(read, good), "");
  for (std::size_t length = 0; length < good.size(); ++length)
    EXPECT_NE(refusal(read, good.first(length)), "")
        << "accepted the first " << length << " of " << good.size();
}

// Law: whatever bytes change, the reader accepts or answers with an Error; never a crash. Returns how many it
// refused.
inline int refused_flips(const ByteReader& read, std::span<const std::byte> good, int trials,
                         std::uint32_t seed) {
  std::mt19937 random(seed);
  int refused = 0;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<std::byte> bytes(good.begin(), good.end());
    for (auto flips = 1 + random() % 3; flips > 0; --flips)
      bytes[random() % bytes.size()] ^= static_cast<std::byte>(1 + random() % 255);
    refused += refusal(read, bytes).empty() ? 0 : 1;
  }
  return refused;
}

}  // namespace spnn::testing
