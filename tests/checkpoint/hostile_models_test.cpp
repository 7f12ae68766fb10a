#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <cstring>
#include <spnn/checkpoint/layout.h>
#include <spnn/checkpoint/load_flow.h>
#include <spnn/checkpoint/models.h>
#include <spnn/checkpoint/module_state.h>
#include <spnn/checkpoint/safetensors.h>
#include <spnn/checkpoint/tensor_checks.h>
#include <spnn/core/config.h>
#include <spnn/networks/presets.h>
#include <spnn/networks/unet.h>

#include "support/hostile.h"
#include "support/temporary.h"
#include "support/torch_writer.h"

namespace spnn {
namespace {

using testing::expect_harmless;
using testing::TemporaryFolder;
using testing::write_file;

std::string model_with(const std::string& header, std::size_t data = 0) {
  return testing::little<std::uint64_t>(header.size()) + header + std::string(data, '\0');
}

std::string model_of(const std::string& kind, const std::string& architecture) {
  return model_with(Json{{"__metadata__", {{"kind", kind}, {"architecture", architecture}}},
                         {"w", {{"dtype", "F32"}, {"shape", {1}}, {"data_offsets", {0, 4}}}}}.dump(), 4);
}

std::string many_tensors(int count) {
  std::string header = "{";
  for (int i = 0; i < count; ++i)
    header += fmt::format("{}\"t{}\":{{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[{},{}]}}", i ? "," : "", i, i, i + 1);
  return model_with(header + "}", static_cast<std::size_t>(count));
}

// A small network of one surjection whose r is `r`.
std::string network_with_r(const std::string& r) {
  return R"({"input": [4, 8, 8], "blocks": [{"kind": "surjection", "out": 2, "st": {"kind": "conv", "hidden": 4, "depth": 1},)"
         R"( "r": )" + r + "}]}";
}

class HostileModels : public ::testing::Test {
 protected:
  void expect_refused(const std::string& name, const std::string& content, const std::string& expected,
                      const std::function<void(const std::filesystem::path&)>& load) {
    const auto file = folder_ / "model";
    write_file(file, content);
    expect_harmless(name, content.size(), expected, [&] { load(file); });
  }
  TemporaryFolder folder_;
};

const auto as_spnn = [](const std::filesystem::path& file) { load_spnn(file); };
const auto as_judge = [](const std::filesystem::path& file) { load_judge(file); };
const auto as_flow = [](const std::filesystem::path& file) { load_flow(file); };
const auto as_any = [](const std::filesystem::path& file) { read_checkpoint(file); };
const auto as_unet = [](const std::filesystem::path& file) {
  const auto model = read_model(file, "ddpm-unet");
  const TensorBudget budget(model.tensors, file.string());
  UNet(model.layout.architecture.get<UNetConfig>());
};

TEST_F(HostileModels, HeadersCostLittle) {
  expect_refused("safetensors, 2 MB of brackets in metadata",
                 model_with("{\"__metadata__\": {\"a\": " + std::string(2'000'000, '[') + "}}"), "nested at most 3", as_any);
  expect_refused("safetensors, 40,000 tensors", many_tensors(40'000), "", as_any);
  expect_refused("safetensors, 160,000 tensors", many_tensors(160'000), "", as_any);
  expect_refused("safetensors, a shape of 0 × 2⁴⁰", model_with(R"({"w": {"dtype": "F32", "shape": [0, 1099511627776], "data_offsets": [0, 0]}})"),
                 "expected the bytes of [0, 1099511627776]", as_any);
  expect_refused("safetensors, a name of 8 MB", model_with("{\"" + std::string(8'000'000, 'x') + "\": 3}"), "an object with dtype", as_any);
}

TEST_F(HostileModels, ArchitecturesCostLittle) {
  expect_refused("architecture of 1 M brackets", model_of("spnn", std::string(1'000'000, '[')), "nested at most 64", as_spnn);
  expect_refused("U-Net of 9 GB", model_of("ddpm-unet", R"({"ch": 8192, "image_size": 64})"), "an architecture that the tensors of the file fill", as_unet);
  expect_refused("U-Net of 65,536 blocks", model_of("ddpm-unet", R"({"ch": 32, "num_res_blocks": 65536})"), "that the tensors of the file fill", as_unet);
  const auto levels = [](int n) { return Json{{"ch_mult", std::vector<int>(static_cast<std::size_t>(n), 1)}, {"stem", 2}}.dump(); };
  expect_refused("U-Net of 64 levels", model_of("ddpm-unet", levels(64)), "lists of at most 32 numbers", as_unet);
  expect_refused("U-Net, ch of 2⁶²", model_of("ddpm-unet", R"({"ch": 4611686018427387904})"), "numbers up to 65536, got 4611686018427387904", as_unet);
  expect_refused("shuffle of 2³² (its square is 0)", model_of("spnn", network_with_r(R"({"kind": "sequential", "layers": [{"op": "shuffle", "factor": 4294967296}]})")),
                 "numbers up to 65536, got 4294967296", as_spnn);
  expect_refused("an r net that ends in a shuffle", model_of("spnn", network_with_r(R"({"kind": "sequential", "layers": [{"op": "conv", "out": 2}, {"op": "shuffle", "factor": 1}]})")),
                 "a convolution as the last layer, got a shuffle", as_spnn);
  expect_refused("an r net of 70 doublings", model_of("spnn", network_with_r(Json{{"kind", "sequential"}, {"layers", std::vector<Json>(70, Json{{"op", "up"}, {"out", 2}})}}.dump())),
                 "maps with sides up to", as_spnn);
  expect_refused("Cayley mixing of 65,536 channels", model_of("spnn", R"({"input": [65536, 1, 1], "blocks": [{"kind": "affine", "st": {"kind": "conv", "hidden": 4}}]})"),
                 "that the tensors of the file fill", as_spnn);
  expect_refused("judge of 64 levels", model_of("judge", Json{{"widths", std::vector<int>(64, 8)}, {"blocks", std::vector<int>(64, 1)}}.dump()), "lists of at most 32 numbers", as_judge);
  expect_refused("flow of 65,536 hidden", model_of("density", R"({"input": [3, 64, 64], "steps": [8], "hidden": [65536]})"), "that the tensors of the file fill", as_flow);
}

TEST_F(HostileModels, StridesOfZeroAreCounted) {
  using testing::TorchWriter;
  TorchWriter writer(TorchWriter::Format::zip);
  const auto storage = writer.add_storage(torch::zeros({262'144}));
  testing::opcodes::Pairs pairs;
  for (int i = 0; i < 1000; ++i) pairs.emplace_back(fmt::format("w{}", i), writer.rebuild(storage, 0, {262'144}, {0}));
  expect_refused(".pth of 1.2 MB, 1,000 tensors of stride 0", writer.file(testing::opcodes::ordered_dict(pairs)), "tensors that the file can hold", as_any);
}

TEST_F(HostileModels, WeightsThatAreNotFiniteAreRefused) {
  auto net = std::make_shared<Spnn>(spnn_preset("fashion"));
  auto tensors = state_of(*net);
  const auto write = [&] {
    write_safetensors(folder_ / "m", {tensors, {{"kind", "spnn"}, {"architecture", to_json(net->config()).dump()}}});
  };
  for (const float bad : {NAN, INFINITY, -INFINITY}) {
    auto& weight = tensors.begin()->second;
    weight = weight.clone();
    weight.view({-1})[3] = bad;
    write();
    EXPECT_THAT(testing::cost_of([&] { load_spnn(folder_ / "m"); }).text, ::testing::HasSubstr("expected finite numbers, got NaN or infinity"));
    weight.zero_();
  }
  tensors["statistics.mean"] = torch::full({10}, NAN);
  write();
  EXPECT_THAT(testing::cost_of([&] { load_spnn(folder_ / "m"); }).text, ::testing::HasSubstr("statistics.mean: expected finite"));
  tensors["statistics.mean"] = torch::zeros({7});
  write();
  EXPECT_THAT(testing::cost_of([&] { load_spnn(folder_ / "m"); }).text, ::testing::HasSubstr("statistics.mean of 10 outputs, got [7]"));
}

TEST_F(HostileModels, APipeOrDeviceIsRefusedAtOnce) {
  const auto pipe = folder_ / "pipe.safetensors";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  expect_harmless("a FIFO as model", 0, "got a pipe", [&] { load_spnn(pipe); });
  expect_harmless("/dev/zero as model", 0, "got a device", [] { read_checkpoint("/dev/zero"); });
}

TEST_F(HostileModels, TerminalEscapesDoNotPass) {
  const auto file = folder_ / "m";
  write_file(file, model_with("{\"\\u001b[31mred\": 3}"));
  EXPECT_THAT(testing::cost_of([&] { read_checkpoint(file); }).text, ::testing::Not(::testing::HasSubstr("\x1b")));
}

// Every bit of the tensors of a state of our own. The header's metadata is not under the checksum.
TEST_F(HostileModels, EverySingleBitFlipOfATensorIsNoticed) {
  write_safetensors(folder_ / "m", {{{"a", torch::arange(40, torch::kFloat32)}, {"b", torch::ones({3}, torch::kBool)}, {"steps", torch::full({1}, 7)}},
                                    {{"kind", "training-state"}, {"step", "12"}}});
  const auto good = testing::file_bytes(folder_ / "m");
  std::vector<std::size_t> unseen;
  std::uint64_t header = 0;
  std::memcpy(&header, good.data(), sizeof header);
  for (std::size_t bit = 8 * (sizeof header + header); bit < 8 * good.size(); ++bit) {
    auto bad = good;
    bad[bit / 8] ^= std::byte(1U << (bit % 8));
    try {
      read_safetensors(bad, "f");
      unseen.push_back(bit);
    } catch (const Error&) {
    }
  }
  std::printf("[ flips    ] %zu single-bit flips, %zu unnoticed\n", 8 * (good.size() - sizeof header - header), unseen.size());
  EXPECT_THAT(unseen, ::testing::IsEmpty());
}

}  // namespace
}  // namespace spnn
