#pragma once

#include <spnn/core/errors.h>
#include <spnn/core/io.h>
#include <spnn/core/text.h>

#include <cstdint>
#include <cstring>
#include <string>

namespace spnn {

// A cursor over bytes that never passes their end. Numbers are little-endian, as in all our formats.
class ByteReader {
 public:
  ByteReader(Bytes bytes, std::string where, std::size_t at = 0)
      : bytes_(bytes), where_(std::move(where)), at_(at) {
    require(at <= bytes.size(), where_, fmt::format("a position up to {}", bytes.size()),
            fmt::format("{}", at));
  }

  std::size_t position() const { return at_; }
  std::size_t left() const { return bytes_.size() - at_; }
  const std::string& where() const { return where_; }

  Bytes take(std::uint64_t count) {
    require(count <= left(), where_, fmt::format("{} bytes at {}", count, at_),
            fmt::format("the end after {}", left()), "the file is truncated or damaged");
    const auto taken = bytes_.subspan(at_, count);
    at_ += count;
    return taken;
  }

  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

  std::string text(std::uint64_t count) {
    const auto taken = take(count);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }

 private:
  Bytes bytes_;
  std::string where_;
  std::size_t at_;
};

}  // namespace spnn
