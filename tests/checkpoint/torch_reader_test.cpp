#include <caffe2/serialize/inline_container.h>
#include <gtest/gtest.h>
#include <spnn/checkpoint/checkpoint.h>
#include <spnn/core/rng.h>

#include "support/damage.h"
#include "support/temporary.h"
#include "support/tensor_near.h"
#include "support/torch_writer.h"

namespace spnn {
namespace {

using ::testing::HasSubstr;
using namespace spnn::testing;
using Format = TorchWriter::Format;

Checkpoint read(const std::string& file) {
  return read_checkpoint(std::as_bytes(std::span(file)), "f");
}

Checkpoint fixture(const std::string& name) {
  return read_checkpoint(std::string(SPNN_SOURCE_DIR) + "/tests/fixtures/checkpoint/" + name);
}

Tensor counting(std::int64_t from, std::int64_t to) {
  return torch::arange(from, to, torch::kFloat32);
}

// The tensors that make.py writes.
void expect_fixture_state(const Checkpoint& checkpoint) {
  ASSERT_EQ(checkpoint.tensors.size(), 6U);
  const auto& tensors = checkpoint.tensors;
  EXPECT_TRUE(torch::equal(tensors.at("weight"), counting(0, 6).view({2, 3})));
  EXPECT_TRUE(torch::equal(tensors.at("transposed"), counting(6, 12).view({2, 3}).t()));
  EXPECT_TRUE(torch::equal(tensors.at("parameter"), counting(12, 24)));
  EXPECT_TRUE(torch::equal(tensors.at("half"), counting(0, 4).to(torch::kFloat16)));
  EXPECT_TRUE(torch::equal(tensors.at("steps"), torch::tensor(7, torch::kInt64)));
  EXPECT_TRUE(torch::equal(tensors.at("mask"), torch::tensor({true, false})));
}

TEST(TorchReader, ReadsWhatPythonPickles) {
  expect_fixture_state(fixture("state.pth"));
  expect_fixture_state(fixture("state_protocol4.pth"));
  expect_fixture_state(fixture("state_legacy.pth"));  // `module.` is gone
  EXPECT_EQ(fixture("state.pth").container, "PyTorch zip");
  EXPECT_EQ(fixture("state_legacy.pth").container, "PyTorch legacy");
}

TEST(TorchReader, ADdimListGivesItsEma) {
  for (const auto* name : {"ddim.ckpt", "ddim_legacy.ckpt"}) {
    const auto checkpoint = fixture(name);
    EXPECT_THAT(checkpoint.taken, HasSubstr("EMA"));
    ASSERT_EQ(checkpoint.tensors.size(), 1U);
    EXPECT_TRUE(torch::equal(checkpoint.tensors.at("weight"), counting(100, 106).view({2, 3})));
  }
}

TEST(TorchReader, ReadsTheArchiveThatPyTorchsOwnWriterMakes) {
  TorchWriter writer(Format::zip);
  const auto weight = Rng(1).randn({3, 4});
  const auto pickle = opcodes::whole(writer.state({{"weight", weight}}));
  std::string file;
  {
    caffe2::serialize::PyTorchStreamWriter archive([&](const void* data, std::size_t size) {
      file.append(static_cast<const char*>(data), size);
      return size;
    });
    archive.writeRecord("data.pkl", pickle.data(), pickle.size());
    archive.writeRecord("data/0", weight.data_ptr(), weight.nbytes());
    archive.writeEndOfFile();
  }
  EXPECT_TRUE(torch::equal(read(file).tensors.at("weight"), weight));
}

class TorchFormats : public ::testing::TestWithParam<Format> {};
INSTANTIATE_TEST_SUITE_P(All, TorchFormats, ::testing::Values(Format::zip, Format::legacy));

TEST_P(TorchFormats, EveryTypeAndLayoutComesBack) {
  for (const bool big_endian : {false, true}) {
    TorchWriter writer(GetParam(), big_endian);
    std::vector<std::pair<std::string, Tensor>> tensors;
    for (const auto dtype :
         {torch::kFloat64, torch::kFloat32, torch::kFloat16, torch::kBFloat16, torch::kInt64, torch::kInt32,
          torch::kInt16, torch::kInt8, torch::kUInt8, torch::kBool})
      tensors.emplace_back(torch::toString(dtype), (Rng(2).randn({2, 5}) * 50).abs().to(dtype));
    tensors.emplace_back("slice", Rng(3).randn({6, 6}).slice(0, 1, 5).slice(1, 2, 4));
    tensors.emplace_back("empty", torch::empty({0, 3}));
    tensors.emplace_back("scalar", torch::tensor(2.5));
    const auto checkpoint = read(writer.file(writer.state(tensors)));
    for (const auto& [name, tensor] : tensors) {
      EXPECT_EQ(checkpoint.tensors.at(name).scalar_type(), tensor.scalar_type()) << name;
      EXPECT_TRUE(torch::equal(checkpoint.tensors.at(name), tensor)) << name;
      EXPECT_TRUE(checkpoint.tensors.at(name).is_contiguous()) << name;
    }
  }
}

TEST_P(TorchFormats, WeightsInsideATrainingStateAreFound) {
  TorchWriter writer(GetParam());
  const auto state = writer.state({{"module.w", counting(0, 3)}});
  const auto checkpoint =
      read(writer.file(opcodes::dict({{"epoch", opcodes::integer(3)}, {"state_dict", state}})));
  EXPECT_EQ(checkpoint.taken, "'state_dict'");
  EXPECT_TRUE(torch::equal(checkpoint.tensors.at("w"), counting(0, 3)));
}

TEST_P(TorchFormats, WhatHoldsNoTensorsIsNamed) {
  const auto refused = [&](const std::string& object) {
    const auto file = TorchWriter(GetParam()).file(object);
    return refusal([&] { read(file); });
  };
  EXPECT_THAT(refused(opcodes::integer(7)), HasSubstr("expected a dictionary of tensors, got the number 7"));
  EXPECT_THAT(refused(opcodes::dict({})), HasSubstr("got a dict of 0"));
  EXPECT_THAT(refused(opcodes::dict({{"lr", opcodes::text("fast")}})),
              HasSubstr("a dict of 1 with the text 'fast'"));
  EXPECT_THAT(refused(opcodes::list({"N", "N"})), HasSubstr("got a list of 2"));
}

TEST_P(TorchFormats, ATensorMustLieInsideItsStorage) {
  const auto refused = [&](std::int64_t offset, std::vector<std::int64_t> size,
                           std::vector<std::int64_t> stride) {
    TorchWriter writer(GetParam());
    const auto storage = writer.add_storage(counting(0, 12));
    const auto object = opcodes::dict({{"w", writer.rebuild(storage, offset, size, stride)}});
    const auto file = writer.file(object);
    return refusal([&] { read(file); });
  };
  EXPECT_EQ(refused(0, {3, 4}, {4, 1}), "");
  EXPECT_EQ(refused(11, {1}, {1}), "");
  EXPECT_THAT(refused(1, {3, 4}, {4, 1}),
              HasSubstr("f: tensor 'w': expected a tensor inside its storage of 12"));
  EXPECT_THAT(refused(0, {3, 4}, {5, 1}), HasSubstr("inside its storage"));
  EXPECT_THAT(refused(13, {1}, {1}), HasSubstr("inside its storage"));
  EXPECT_THAT(refused(0, {1000000000000}, {0}),
              HasSubstr("inside its storage"));  // expanded: 4 TB of one number
  EXPECT_THAT(refused(0, {2, 2}, {INT64_MAX, INT64_MAX}), HasSubstr("inside its storage"));
  EXPECT_THAT(refused(0, {INT64_MAX, INT64_MAX}, {1, 1}), HasSubstr("a size with strides"));
  EXPECT_THAT(refused(0, {2}, {1, 1}), HasSubstr("a size with strides"));
  EXPECT_THAT(refused(-1, {2}, {1}), HasSubstr("a whole number"));
  EXPECT_THAT(refused(0, {-2}, {1}), HasSubstr("a whole number"));
  EXPECT_THAT(refused(0, {2}, {-1}), HasSubstr("a whole number"));
}

TEST_P(TorchFormats, AStorageLargerThanTheFileIsRefused) {
  TorchWriter writer(GetParam());
  writer.add_storage(counting(0, 4));
  const auto huge = writer.storage("0", torch::kFloat32, std::int64_t{1} << 40);
  const auto file =
      writer.file(opcodes::dict({{"w", writer.rebuild(huge, 0, {std::int64_t{1} << 40}, {1})}}));
  EXPECT_THAT(refusal([&] { read(file); }), HasSubstr("expected"));
}

TEST_P(TorchFormats, ManyTensorsOverOneStorageCannotMultiplyTheFile) {
  TorchWriter writer(GetParam());
  const auto storage = writer.add_storage(torch::zeros(1 << 18));  // 1 MB
  opcodes::Pairs pairs;
  for (int i = 0; i < 1000; ++i)
    pairs.emplace_back(std::to_string(i), writer.rebuild(storage, 0, {1 << 18}, {1}));
  const auto file = writer.file(opcodes::dict(pairs));
  EXPECT_THAT(refusal([&] { read(file); }), HasSubstr("tensors that the file can hold"));
}

TEST_P(TorchFormats, AMissingStorageIsNamed) {
  TorchWriter writer(GetParam());
  const auto storage = writer.storage("17", torch::kFloat32, 2);
  const auto file = writer.file(opcodes::dict({{"w", writer.rebuild(storage, 0, {2}, {1})}}));
  EXPECT_THAT(refusal([&] { read(file); }), HasSubstr("17'"));
}

TEST_P(TorchFormats, EveryTruncationIsRefused) {
  TorchWriter writer(GetParam());
  const auto file = writer.file(writer.state({{"a", counting(0, 20)}, {"b", torch::ones({3, 3}).t()}}));
  expect_every_truncation_refused([](auto bytes) { read_checkpoint(bytes, "f"); },
                                  std::as_bytes(std::span(file)));
}

TEST(TorchReader, EveryTruncationOfPythonsFilesIsRefused) {
  for (const auto* name :
       {"state.pth", "state_protocol4.pth", "state_legacy.pth", "ddim.ckpt", "ddim_legacy.ckpt"}) {
    const auto bytes = file_bytes(std::string(SPNN_SOURCE_DIR) + "/tests/fixtures/checkpoint/" + name);
    expect_every_truncation_refused([](auto part) { read_checkpoint(part, "f"); }, bytes);
  }
}

TEST(TorchReader, RandomByteFlipsNeverCrash) {
  for (const auto* name :
       {"state.pth", "state_protocol4.pth", "state_legacy.pth", "ddim.ckpt", "ddim_legacy.ckpt"}) {
    const auto bytes = file_bytes(std::string(SPNN_SOURCE_DIR) + "/tests/fixtures/checkpoint/" + name);
    const auto refused = refused_flips([](auto part) { read_checkpoint(part, "f"); }, bytes, 4000, 11);
    EXPECT_GT(refused, 1000) << name;
  }
}

TEST(TorchReader, TheCrcFindsEveryByteFlippedInAZipsTensors) {
  TorchWriter writer(Format::zip);
  const auto good = writer.file(writer.state({{"a", torch::full(8, 3.25)}}));
  const auto data =
      good.find(std::string(reinterpret_cast<const char*>(torch::full(8, 3.25F).data_ptr()), 32));
  ASSERT_NE(data, std::string::npos);
  for (std::size_t at = data; at < data + 32; ++at) {
    auto bad = good;
    bad[at] ^= 4;
    EXPECT_THAT(refusal([&] { read(bad); }), HasSubstr("the file is damaged"));
  }
}

TEST(TorchReader, Zip64IsUnderstood) {
  TorchWriter writer(Format::zip);
  const auto object = writer.state({{"a", counting(0, 5)}});
  EXPECT_TRUE(torch::equal(read(writer.zip(object, {.zip64 = true})).tensors.at("a"), counting(0, 5)));
  const auto file = writer.zip(object, {.zip64 = true});
  expect_every_truncation_refused([](auto bytes) { read_checkpoint(bytes, "f"); },
                                  std::as_bytes(std::span(file)));
  refused_flips([](auto bytes) { read_checkpoint(bytes, "f"); }, std::as_bytes(std::span(file)), 3000, 5);
}

TEST(TorchReader, OtherArchivesAreNamed) {
  TorchWriter writer(Format::zip);
  const auto object = writer.state({{"a", counting(0, 5)}});
  EXPECT_THAT(refusal([&] { read(writer.zip(object, {.method = 8})); }),
              HasSubstr("a compressed or encrypted one"));
  EXPECT_THAT(refusal([&] { read(zip_bytes({{"arr_0.npy", "x"}})); }), HasSubstr("one entry */data.pkl"));
  EXPECT_THAT(refusal([&] {
                read(zip_bytes({{"m/data.pkl", "x"}, {"m/constants.pkl", "x"}}));
              }),
              HasSubstr("a TorchScript archive"));
  EXPECT_THAT(refusal([&] { read(zip_bytes({{"m/a", "x"}, {"m/a", "x"}})); }), HasSubstr("'m/a' twice"));
  EXPECT_THAT(refusal([&] {
                read(zip_bytes({{"m/data.pkl", opcodes::whole("N")}, {"m/byteorder", "middle"}}));
              }),
              HasSubstr("'middle'"));
}

TEST(TorchReader, OtherFilesAreNamed) {
  EXPECT_THAT(refusal([] { read(""); }), HasSubstr("an empty file"));
  EXPECT_THAT(refusal([] { read("<!DOCTYPE html>"); }), HasSubstr("the download failed"));
  EXPECT_THAT(refusal([] { read("version https://git-lfs.github.com/spec/v1\n"); }),
              HasSubstr("git lfs pull"));
  EXPECT_THAT(refusal([] { read("\x89PNG\r\n\x1a\n and so on"); }), HasSubstr("a file of another kind"));
}

TEST(TorchReader, ALegacyViewIsAPartOfItsStorage) {
  TorchWriter writer(Format::legacy);
  writer.add_storage(counting(0, 10));
  const auto view = [&](std::int64_t begin, std::int64_t count) {
    const auto part = opcodes::tuple({opcodes::text("v"), opcodes::integer(begin), opcodes::integer(count)});
    const auto storage = writer.storage("0", torch::kFloat32, 10, part);
    return writer.file(opcodes::dict({{"w", writer.rebuild(storage, 1, {3}, {1})}}));
  };
  EXPECT_TRUE(torch::equal(read(view(4, 5)).tensors.at("w"), counting(5, 8)));
  EXPECT_THAT(refusal([&] { read(view(4, 3)); }), HasSubstr("inside its storage of 3"));
  EXPECT_THAT(refusal([&] { read(view(4, 7)); }), HasSubstr("a view inside a storage of 10"));
}

}  // namespace
}  // namespace spnn
