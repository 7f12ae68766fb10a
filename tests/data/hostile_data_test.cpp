#include <gtest/gtest.h>
#include <spnn/data/catalogue.h>

#include <zlib.h>

#include "data/sample_sets.h"
#include "support/hostile.h"
#include "support/temporary.h"

namespace spnn {
namespace {

std::string big_endian(std::uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8), static_cast<char>(value)};
}

std::string idx_header(std::initializer_list<std::uint32_t> sizes) {
  std::string out("\0\0\x08", 3);
  out += static_cast<char>(sizes.size());
  for (const auto size : sizes) out += big_endian(size);
  return out;
}

// gzip of `head` and then `zeros` zero bytes.
std::string gzip_of(const std::string& head, std::size_t zeros) {
  z_stream stream = {};
  deflateInit2(&stream, 1, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  std::string out(zeros / 100 + 4096, '\0');
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  std::string chunk = head;
  for (std::size_t left = zeros;; left -= std::min<std::size_t>(left, 1 << 20)) {
    stream.next_in = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_in = static_cast<uInt>(chunk.size());
    deflate(&stream, left == 0 ? Z_FINISH : Z_NO_FLUSH);
    if (left == 0) break;
    chunk.assign(std::min<std::size_t>(left, 1 << 20), '\0');
  }
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

void expect_refused(const std::string& name, const std::string& file, std::size_t axes, const std::string& expected) {
  testing::expect_harmless(name, file.size(), expected, [&] {
    parse_idx({reinterpret_cast<const std::uint8_t*>(file.data()), file.size()}, "file", axes);
  });
}

TEST(HostileData, IdxCostsLittle) {
  expect_refused("IDX of 100 million pictures of 0×0", idx_header({100'000'000, 0, 0}), 3, "at most 67109120 bytes of data");
  expect_refused("IDX of 100 pictures of 0×0", idx_header({100, 0, 0}), 3, "sides of 1 to 4096, got 0");
  expect_refused("IDX of 4 G pictures", idx_header({0xffffffff, 28, 28}), 3, "bytes of data");
  expect_refused("gzip that unpacks to 154 MB", gzip_of(idx_header({150'000, 32, 32}), 153'600'000), 3, "at most");
  expect_refused("gzip longer than its header says", gzip_of(idx_header({10, 4, 4}), 200'000'000), 3, "160 bytes of data, got more");
  const auto good = gzip_of(idx_header({10, 4, 4}), 160);
  expect_refused("gzip as it should be", good, 3, "");
  expect_refused("gzip cut short", good.substr(0, good.size() - 6), 3, "a whole gzip file");
}

TEST(HostileData, ATarThatShrinksIsAnError) {
  const testing::TemporaryFolder folder;
  testing::write_csv_folder(folder / "set");
  testing::write_file(folder / "set.tar", testing::tar_of(folder / "set", ""));
  const auto source = open_source(folder / "set.tar");
  std::filesystem::resize_file(folder / "set.tar", 512);
  testing::expect_harmless("a tar that shrinks", 512, "it became shorter", [&] {
    for (const auto& file : source->files()) source->read(file);
  });
}

}  // namespace
}  // namespace spnn
