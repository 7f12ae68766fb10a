#include <gtest/gtest.h>
#include <spnn/checkpoint/foreign_layouts.h>
#include <spnn/checkpoint/layout.h>
#include <spnn/checkpoint/module_state.h>
#include <spnn/networks/presets.h>
#include <spnn/networks/unet.h>

#include <regex>

#include "support/damage.h"
#include "support/parity.h"
#include "support/temporary.h"

namespace spnn {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace spnn::testing;

// A tensor of this shape that takes no memory.
Tensor shaped(const std::vector<std::int64_t>& shape) {
  return torch::zeros({1}).expand(shape.empty() ? std::vector<std::int64_t>{1} : shape);
}

TensorMap fixture_tensors(const std::string& name) {
  TensorMap tensors;
  const auto fixture = parity_fixture(name);
  for (const auto& entry : fixture.at("keys_sorted"))
    tensors[entry.at(0).get<std::string>()] = shaped(entry.at(1).get<std::vector<std::int64_t>>());
  return tensors;
}

Layout layout_of(TensorMap tensors) {
  return describe({"test", "", std::move(tensors), {}}, "f");
}

TEST(Layout, TheReferenceSpnnsAreRecognised) {
  const auto small = layout_of(fixture_tensors("spnn32"));
  EXPECT_EQ(small.kind, "spnn");
  EXPECT_EQ(small.architecture, to_json(spnn_preset("reference-32", 40)));
  EXPECT_EQ(layout_of(fixture_tensors("spnn256")).architecture, to_json(spnn_preset("reference-256", 40)));
  EXPECT_THAT(layout_of(fixture_tensors("spnn256")).text, HasSubstr("reference-256 with 40 outputs, Cayley"));
}

TEST(Layout, TheNumberOfOutputsIsRead) {
  auto tensors = fixture_tensors("spnn32");
  for (auto& [name, tensor] : tensors) {
    auto shape = tensor.sizes().vec();
    if (!name.starts_with("pinn.blocks.4.")) continue;
    for (auto& size : shape) size = size == 40 ? 10 : size == 984 ? 1014 : size;
    tensor = shaped(shape);
  }
  EXPECT_EQ(layout_of(tensors).architecture, to_json(spnn_preset("reference-32", 10)));
}

TEST(Layout, HouseholderMixingIsRead) {
  TensorMap tensors;
  for (const auto& [name, tensor] : fixture_tensors("spnn32")) {
    const auto end = name.find("A_unconstrained");
    if (end == std::string::npos)
      tensors[name] = tensor;
    else
      tensors[name.substr(0, end) + "V"] = shaped({8, tensor.size(0)});
  }
  const auto layout = layout_of(tensors);
  EXPECT_THAT(layout.text, HasSubstr("Householder"));
  const auto config = spnn_from_json(layout.architecture);
  const auto& block = std::get<SurjectionBlockConfig>(config.blocks[1]);
  EXPECT_EQ(block.mix.kind, MixConfig::Kind::householder);
  EXPECT_EQ(block.mix.reflections, 8);
}

TEST(Layout, The64PixelSpnnIsRecognisedByItsBlocks) {
  TensorMap tensors;
  for (const auto& [block, width] :
       std::map<int, std::int64_t>{{1, 12}, {2, 6}, {4, 48}, {6, 2048}, {7, 1024}})
    tensors[fmt::format("pinn.blocks.{}.mix.A_unconstrained", block)] = shaped({width, width});
  tensors["pinn.blocks.7.r.net.0.weight"] = shaped({128, 40, 1, 1});
  EXPECT_EQ(layout_of(tensors).architecture, to_json(spnn_preset("reference-64", 40)));
  tensors["pinn.blocks.4.mix.A_unconstrained"] = shaped({49, 49});
  EXPECT_EQ(layout_of(tensors).kind, "unknown");
}

TEST(Layout, ThePublicUNetsAreRecognised) {
  const auto large = layout_of(fixture_tensors("unet256"));
  EXPECT_EQ(large.kind, "ddpm-unet");
  EXPECT_EQ(large.architecture, Json(UNetConfig{.image_size = 256, .ch_mult = {1, 1, 2, 2, 4, 4}}));
  EXPECT_EQ(layout_of(fixture_tensors("unet32")).architecture,
            Json(UNetConfig{.image_size = 32, .ch = 32, .ch_mult = {1, 2, 2}, .num_res_blocks = 1}));
}

TEST(Layout, AUNetsTensorsTellItsConfiguration) {
  const std::pair<UNetConfig, std::size_t> family[] = {
      {{.image_size = 32, .ch = 32, .ch_mult = {1, 2, 2, 2}}, 328},
      {{.image_size = 64, .ch = 32, .ch_mult = {1, 2, 2, 2, 4}}, 390},
      {{.image_size = 256, .ch = 32, .ch_mult = {1, 1, 2, 2, 4, 4}}, 450},
      {{.image_size = 32,
        .in_channels = 1,
        .out_channels = 2,
        .ch = 32,
        .ch_mult = {1, 3},
        .num_res_blocks = 1,
        .attn_resolutions = {16}},
       0},
      {{.image_size = 8, .ch = 32, .ch_mult = {2, 1}, .attn_resolutions = {}}, 0}};
  for (const auto& [config, count] : family) {
    const auto tensors = state_of(UNet(config));
    EXPECT_TRUE(count == 0 || tensors.size() == count) << tensors.size();
    EXPECT_EQ(layout_of(tensors).architecture, Json(config));
  }
}

// The original names as diffusers writes them, old and new.
std::string diffusers_name(std::string name, int levels, bool old) {
  const auto replace = [&](const char* from, const std::string& to) {
    name = std::regex_replace(name, std::regex(from), to);
  };
  replace("^temb\\.dense\\.0", "time_embedding.linear_1");
  replace("^temb\\.dense\\.1", "time_embedding.linear_2");
  replace("^norm_out", "conv_norm_out");
  replace("^mid\\.block_1", "mid_block.resnets.0");
  replace("^mid\\.block_2", "mid_block.resnets.1");
  replace("^mid\\.attn_1", "mid_block.attentions.0");
  std::smatch up;
  if (std::regex_search(name, up, std::regex("^up\\.(\\d+)")))
    name = fmt::format("up_blocks.{}{}", levels - 1 - std::stoi(up[1]), std::string(up.suffix()));
  replace("^down\\.", "down_blocks.");
  replace("\\.block\\.", ".resnets.");
  replace("\\.attn\\.", ".attentions.");
  replace("downsample\\.", "downsamplers.0.");
  replace("upsample\\.", "upsamplers.0.");
  replace("temb_proj", "time_emb_proj");
  replace("nin_shortcut", "conv_shortcut");
  replace("(attentions\\.\\d+)\\.norm", "$1.group_norm");
  replace("(attentions\\.\\d+)\\.q\\.", old ? "$1.query." : "$1.to_q.");
  replace("(attentions\\.\\d+)\\.k\\.", old ? "$1.key." : "$1.to_k.");
  replace("(attentions\\.\\d+)\\.v\\.", old ? "$1.value." : "$1.to_v.");
  replace("(attentions\\.\\d+)\\.proj_out\\.", old ? "$1.proj_attn." : "$1.to_out.0.");
  return name;
}

TEST(Layout, DiffusersNamesBecomeTheOriginalOnes) {
  for (const bool old : {true, false}) {
    const auto wanted = fixture_tensors("unet256");
    TensorMap renamed;
    for (const auto& [name, tensor] : wanted) {
      const bool attention = name.find("attn") != std::string::npos && tensor.dim() == 4;
      const auto added = renamed.emplace(diffusers_name(name, 6, old),
                                         attention ? shaped({tensor.size(0), tensor.size(1)}) : tensor);
      ASSERT_TRUE(added.second) << name;
    }
    EXPECT_TRUE(renamed.contains(old ? "up_blocks.1.attentions.2.proj_attn.bias"
                                     : "up_blocks.1.attentions.2.to_out.0.bias"));
    const auto model = as_model({"test", "", renamed, {}}, "f", "ddpm-unet");
    EXPECT_THAT(model.layout.text, HasSubstr("diffusers"));
    EXPECT_EQ(model.layout.architecture, layout_of(wanted).architecture);
    std::map<std::string, std::vector<std::int64_t>> shapes;
    for (const auto& [name, tensor] : wanted) shapes[name] = tensor.sizes().vec();
    EXPECT_EQ(mismatch(shapes, model.tensors), "");
  }
}

TEST(Layout, AnotherNetworkOfDiffusersIsNotMisread) {
  auto tensors =
      TensorMap{{"down_blocks.0.resnets.0.conv1.weight", shaped({32, 32, 3, 3})},
                {"down_blocks.0.attentions.0.transformer_blocks.0.attn1.to_q.weight", shaped({32, 32})}};
  EXPECT_EQ(layout_of(tensors).kind, "unknown");
}

TEST(Layout, GuidedDiffusionIsRefusedByName) {
  const Checkpoint checkpoint{"test",
                              "",
                              {{"input_blocks.0.0.weight", shaped({256, 3, 3, 3})},
                               {"output_blocks.0.0.in_layers.0.weight", shaped({2048})}},
                              {}};
  EXPECT_EQ(describe(checkpoint, "f").kind, "guided-diffusion");
  EXPECT_THAT(refusal([&] { as_model(checkpoint, "f"); }),
              HasSubstr("f: expected a model, got guided-diffusion U-Net"));
}

TEST(Layout, OurOwnFilesSayWhatTheyAre) {
  const TemporaryFolder folder;
  const UNetConfig config{
      .image_size = 8, .ch = 32, .ch_mult = {1}, .num_res_blocks = 1, .attn_resolutions = {}, .stem = 2};
  const UNet net(config);
  write_safetensors(folder / "m",
                    {state_of(net), {{"kind", "ddpm-unet"}, {"architecture", Json(config).dump()}}});
  const auto model = read_model(folder / "m", "ddpm-unet");
  EXPECT_EQ(model.layout.architecture, Json(config));
  UNet copy(model.layout.architecture.get<UNetConfig>());
  load_into(copy, model.tensors, "m");
  EXPECT_THAT(refusal([&] { read_model(folder / "m", "spnn"); }),
              HasSubstr("a model of kind 'spnn', got our own file of kind 'ddpm-unet'"));
}

TEST(Layout, BrokenArchitecturesInMetadataAreRefused) {
  const auto with = [](const std::string& text) {
    return Checkpoint{"safetensors", "", {}, {{"kind", "spnn"}, {"architecture", text}}};
  };
  EXPECT_THAT(refusal([&] { describe(with("{"), "f"); }),
              HasSubstr("'architecture': expected JSON"));
  EXPECT_THAT(refusal([&] { describe(with("[1]"), "f"); }), HasSubstr("JSON object"));
  EXPECT_THAT(refusal([&] {
                as_model({"safetensors", "", {}, {{"kind", "training-state"}}}, "f");
              }),
              HasSubstr("got our own file of kind 'training-state'"));
}

TEST(Layout, WhatNobodyKnowsIsShown) {
  EXPECT_THAT(layout_of({{"fc1.weight", shaped({3, 3})}}).text, HasSubstr("tensors like 'fc1.weight'"));
  EXPECT_THAT(layout_of({}).text, HasSubstr("no tensors"));
}

TEST(Layout, AWrongArchitectureIsListed) {
  UNet net({.image_size = 32, .ch = 32, .ch_mult = {1, 2}, .num_res_blocks = 1});
  EXPECT_THAT(refusal([&] { load_into(net, fixture_tensors("unet32"), "unet.pth"); }),
              AllOf(HasSubstr("unexpected"), HasSubstr("down.2.block.0.conv1.weight")));
  EXPECT_THAT(refusal([&] { load_into(net, fixture_tensors("spnn32"), "spnn.pth"); }),
              AllOf(HasSubstr("missing"), HasSubstr("conv_in.bias [32]"), HasSubstr("and")));
}

}  // namespace
}  // namespace spnn
