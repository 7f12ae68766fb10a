#include <gtest/gtest.h>
#include <spnn/checkpoint/safetensors.h>
#include <spnn/core/rng.h>

#include "support/damage.h"
#include "support/temporary.h"
#include "support/tensor_near.h"

namespace spnn {
namespace {

using ::testing::HasSubstr;
using namespace spnn::testing;

TensorFile every_type() {
  TensorFile file;
  for (const auto dtype : {torch::kFloat64, torch::kFloat32, torch::kFloat16, torch::kBFloat16, torch::kInt64,
                           torch::kInt32, torch::kInt16, torch::kInt8, torch::kUInt8, torch::kBool})
    file.tensors[torch::toString(dtype)] = (Rng(3).randn({2, 3}) * 9).abs().to(dtype);
  file.tensors["scalar"] = torch::tensor(1.5);
  file.tensors["empty"] = torch::zeros({0, 4});
  file.tensors["transposed"] = Rng(4).randn({3, 5}).t();
  file.metadata = {{"kind", "test"}, {"architecture", R"({"name": "ünïcode"})"}};
  return file;
}

std::string with_header(const std::string& header, std::size_t data = 0) {
  const std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + header +
         std::string(data, '\0');
}

std::string refusal_of(const std::string& file) {
  return refusal([](std::span<const std::byte> bytes) { read_safetensors(bytes, "f"); },
                 std::as_bytes(std::span(file)));
}

TEST(Safetensors, RoundTripKeepsTypesShapesValuesAndMetadata) {
  const TemporaryFolder folder;
  const auto written = every_type();
  write_safetensors(folder / "a.safetensors", written);
  auto read = read_safetensors(folder / "a.safetensors");
  ASSERT_EQ(read.tensors.size(), written.tensors.size());
  for (const auto& [name, tensor] : written.tensors) {
    EXPECT_EQ(read.tensors[name].scalar_type(), tensor.scalar_type()) << name;
    EXPECT_TRUE(torch::equal(read.tensors[name], tensor)) << name;
  }
  EXPECT_THAT(read.metadata["checksum"], HasSubstr("crc32:"));
  read.metadata.erase("checksum");
  EXPECT_EQ(read.metadata, written.metadata);
}

TEST(Safetensors, HalfStoresFloatsInTwoBytesAndLeavesIntegers) {
  const TemporaryFolder folder;
  const auto x = Rng(1).randn({4, 4});
  write_safetensors(folder / "h", {{{"x", x}, {"n", torch::arange(3)}}, {}}, {.half = true});
  const auto read = read_safetensors(folder / "h");
  EXPECT_EQ(read.tensors.at("x").scalar_type(), torch::kFloat16);
  EXPECT_EQ(read.tensors.at("n").scalar_type(), torch::kInt64);
  EXPECT_THAT(read.tensors.at("x"), TensorNear(x, 2e-3));
}

TEST(Safetensors, HalfRefusesAValueItCannotHold) {
  const TemporaryFolder folder;
  EXPECT_THAT(refusal([&] {
                write_safetensors(folder / "h", {{{"x", torch::full({2}, 1e6)}}, {}}, {.half = true});
              }),
              HasSubstr("tensor 'x': expected values within half precision"));
}

TEST(Safetensors, AFailedWriteLeavesTheOldFileAndNoRemains) {
  const TemporaryFolder folder;
  write_safetensors(folder / "a", {{{"x", torch::ones(2)}}, {}});
  EXPECT_NE(refusal([&] {
              write_safetensors(folder / "a", {{{"x", torch::ones(2)}}, {{"bad", "\xff"}}});
            }),
            "");
  EXPECT_NE(refusal([&] { write_safetensors(folder / "none/a", {{{"x", torch::ones(2)}}, {}}); }), "");
  EXPECT_EQ(read_safetensors(folder / "a").tensors.size(), 1U);
  const auto files = std::filesystem::directory_iterator(folder.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST(Safetensors, EveryTruncationIsRefused) {
  const TemporaryFolder folder;
  write_safetensors(folder / "a", every_type());
  expect_every_truncation_refused([](auto bytes) { read_safetensors(bytes, "f"); }, file_bytes(folder / "a"));
}

TEST(Safetensors, TheChecksumFindsEveryByteFlippedInTheData) {
  const TemporaryFolder folder;
  write_safetensors(folder / "a", every_type());
  const auto good = file_bytes(folder / "a");
  std::uint64_t header = 0;
  std::memcpy(&header, good.data(), sizeof header);
  for (auto at = 8 + header; at < good.size(); ++at) {
    auto bad = good;
    bad[at] ^= std::byte{1};
    EXPECT_THAT(refusal([&] { read_safetensors(bad, "f"); }), HasSubstr("the file is damaged"));
  }
}

TEST(Safetensors, RandomByteFlipsNeverCrash) {
  const TemporaryFolder folder;
  write_safetensors(folder / "a", every_type());
  const int refused =
      refused_flips([](auto bytes) { read_safetensors(bytes, "f"); }, file_bytes(folder / "a"), 3000, 7);
  EXPECT_GT(refused, 2900);  // only padding may change unseen
}

TEST(Safetensors, BadHeadersAreRefusedWithAReason) {
  EXPECT_THAT(refusal_of(std::string("\xff\xff\xff\xff\xff\xff\xff\x7f{}", 10)),
              HasSubstr("a header of at most"));
  EXPECT_THAT(refusal_of(with_header("[]")), HasSubstr("a JSON object as header"));
  EXPECT_THAT(refusal_of(with_header("{\"a\": ")), HasSubstr("expected JSON, got at byte"));
  EXPECT_THAT(refusal_of(with_header("{\"a\": " + std::string(100000, '['))), HasSubstr("JSON nested at most 3 deep"));
  EXPECT_THAT(refusal_of(with_header(R"({"__metadata__": {"a": 1}})")), HasSubstr("metadata 'a' as text"));
  EXPECT_THAT(refusal_of(with_header(R"({"a": 3})")), HasSubstr("an object with dtype"));
  EXPECT_THAT(refusal_of(with_header(R"({"a": {"dtype": "F8", "shape": [1], "data_offsets": [0, 1]}})", 1)),
              HasSubstr("a dtype of"));
  EXPECT_THAT(refusal_of(with_header(R"({"a": {"dtype": "U8", "shape": [-1], "data_offsets": [0, 1]}})", 1)),
              HasSubstr("a shape of whole numbers"));
  EXPECT_THAT(refusal_of(with_header(R"({"a": {"dtype": "U8", "shape": [2], "data_offsets": [0, 1]}})", 1)),
              HasSubstr("the bytes of [2] U8, got 1"));
  EXPECT_THAT(refusal_of(with_header(R"({"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}})", 2)),
              HasSubstr("expected 1 bytes of data, got 2"));
}

TEST(Safetensors, SizesThatOverflowOrOverlapAllocateNothing) {
  const auto entry = [](const char* name, const char* shape, const char* offsets) {
    return fmt::format(R"("{}": {{"dtype": "F32", "shape": {}, "data_offsets": {}}})", name, shape, offsets);
  };
  EXPECT_THAT(
      refusal_of(with_header(fmt::format("{{{}}}", entry("a", "[0, 4611686018427387904, 4]", "[0, 0]")))),
      HasSubstr("the bytes of"));
  const auto object = [](const std::string& first, const std::string& second) {
    return fmt::format("{{{}, {}}}", first, second);
  };
  EXPECT_THAT(refusal_of(with_header(
                  object(entry("a", "[4611686018427387904, 4, 4]", "[0, 0]"), entry("b", "[0]", "[0, 0]")))),
              HasSubstr("the bytes of"));
  EXPECT_THAT(refusal_of(with_header(
                  object(entry("a", "[1099511627776]", "[0, 4398046511104]"), entry("b", "[0]", "[0, 0]")))),
              HasSubstr("the file is truncated"));
  EXPECT_THAT(refusal_of(with_header(object(entry("a", "[2]", "[0, 8]"), entry("b", "[2]", "[0, 8]")), 8)),
              HasSubstr("data from byte 8"));
  EXPECT_THAT(refusal_of(with_header(object(entry("a", "[2]", "[0, 8]"), entry("a", "[2]", "[0, 8]")), 8)),
              HasSubstr("'a' twice"));
}

TEST(Safetensors, AFileOfAnotherProgramNeedsNoChecksum) {
  const auto file = with_header(R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}})", 8);
  const auto read = read_safetensors(std::as_bytes(std::span(file)), "f");
  EXPECT_TRUE(torch::equal(read.tensors.at("a"), torch::zeros(2)));
}

TEST(Safetensors, WhatIsNotAFileIsNamed) {
  const TemporaryFolder folder;
  EXPECT_THAT(refusal([&] { read_safetensors(folder / "absent"); }), HasSubstr("got nothing there"));
  EXPECT_THAT(refusal([&] { read_safetensors(folder.path()); }), HasSubstr("a directory"));
}

}  // namespace
}  // namespace spnn
