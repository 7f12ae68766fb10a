#include <gmock/gmock.h>
#include <spnn/checkpoint/module_state.h>
#include <spnn/checkpoint/safetensors.h>
#include <spnn/core/errors.h>
#include <spnn/checkpoint/load_prior.h>
#include <spnn/layers/init.h>

#include "support/temporary.h"
#include "support/tensor_near.h"

namespace spnn {
namespace {

using ::testing::HasSubstr;
using spnn::testing::TensorNear;

const UNetConfig kSmall{.image_size = 32, .ch = 32, .ch_mult = {1, 2}, .num_res_blocks = 1, .attn_resolutions = {16}};

std::shared_ptr<UNet> small_net() {
  auto net = std::make_shared<UNet>(kSmall);
  initialise(*net, Rng(4));
  return net;
}

TEST(LoadPrior, OurFileIsEnoughByItself) {
  torch::NoGradGuard no_grad;
  const testing::TemporaryFolder folder;
  const auto net = small_net();
  write_safetensors(folder / "prior.safetensors",
                    {state_of(*net), {{"kind", "ddpm-unet"}, {"architecture", Json(kSmall).dump()}, {"parameterization", "v"}}});
  const auto loaded = load_prior(folder / "prior.safetensors");
  const auto x = Rng(5).randn({1, 3, 32, 32});
  const UNetDenoiser expected(net, Schedule::linear(), Parameterization::v);
  EXPECT_THAT(loaded->eps(x, 123), TensorNear(expected.eps(x, 123), 0.0));
}

// A weak prior travels in the file of the good one, is led away from where images are made, and is left alone elsewhere.
TEST(LoadPrior, AWeakPriorTravelsInTheFileOfTheGoodOne) {
  torch::NoGradGuard no_grad;
  const testing::TemporaryFolder folder;
  const UNetConfig tiny{.image_size = 32, .ch = 16, .ch_mult = {1, 2}, .num_res_blocks = 1, .attn_resolutions = {}, .norm_groups = 8};
  const auto weak = std::make_shared<UNet>(tiny);
  initialise(*weak, Rng(7));
  const auto said = [](const UNetConfig& config) {
    return std::map<std::string, std::string>{{"kind", "ddpm-unet"}, {"architecture", Json(config).dump()}, {"parameterization", "v"}};
  };
  write_safetensors(folder / "weak.safetensors", {state_of(*weak), said(tiny)});
  TensorFile file{state_of(*small_net()), said(kSmall)};
  add_weak_prior(file, folder / "weak.safetensors", {.weight = 0.8, .from = 900, .to = 100});
  write_safetensors(folder / "both.safetensors", file);
  const auto x = Rng(5).randn({1, 3, 32, 32});
  const auto good = load_prior(folder / "both.safetensors"), alone = load_prior(folder / "weak.safetensors");
  const auto both = load_led_prior(folder / "both.safetensors");
  EXPECT_THAT(good->eps(x, 400), TensorNear(UNetDenoiser(small_net(), Schedule::linear(), Parameterization::v).eps(x, 400), 0.0));
  // In eight bits the weak one says nearly what it said.
  EXPECT_THAT(both->eps(x, 400), TensorNear(good->eps(x, 400) + 0.8 * (good->eps(x, 400) - alone->eps(x, 400)), 0.05));
  EXPECT_GT((both->eps(x, 400) - good->eps(x, 400)).abs().max().item<double>(), 0.2);
  EXPECT_TRUE(torch::equal(both->eps(x, 50), good->eps(x, 50)));
  // A file without one is a prior as it is; tensors that nothing is said of are refused.
  EXPECT_THAT(load_led_prior(folder / "weak.safetensors")->eps(x, 400), TensorNear(alone->eps(x, 400), 0.0));
  auto half = file;
  half.tensors.erase("weak.conv_in.weight.scale");
  write_safetensors(folder / "half.safetensors", half);
  EXPECT_THROW(load_led_prior(folder / "half.safetensors"), Error);
  file.metadata.erase("weak");
  write_safetensors(folder / "silent.safetensors", file);
  EXPECT_THROW(load_led_prior(folder / "silent.safetensors"), Error);
}

// A public file has tensors and nothing else: architecture from names and shapes, and the output is ε.
TEST(LoadPrior, APublicFileIsRecognisedByItsTensors) {
  torch::NoGradGuard no_grad;
  const testing::TemporaryFolder folder;
  const auto net = small_net();
  write_safetensors(folder / "public.safetensors", {state_of(*net), {}});
  const auto loaded = load_prior(folder / "public.safetensors");
  EXPECT_EQ(loaded->net().config().ch_mult, kSmall.ch_mult);
  const auto x = Rng(5).randn({1, loaded->shape().channels, loaded->shape().height, loaded->shape().width});
  EXPECT_THAT(loaded->eps(x, 7), TensorNear(loaded->net().forward(x, torch::tensor({7.0})), 0.0));
}

// The schedule belongs to the weights: another one than linear over 1000 steps is in the file, and is used.
TEST(LoadPrior, SamplesWithTheScheduleOfItsFile) {
  const testing::TemporaryFolder folder;
  const auto write = [&](const std::string& schedule) {
    write_safetensors(folder / "prior.safetensors", {state_of(*small_net()), {{"kind", "ddpm-unet"}, {"architecture", Json(kSmall).dump()}, {"schedule", schedule}}});
    return load_prior(folder / "prior.safetensors");
  };
  const auto other = Schedule::linear(1e-3, 5e-2, 200);
  const auto loaded = write(other.to_json().dump());
  EXPECT_EQ(loaded->schedule().steps(), 200);
  EXPECT_DOUBLE_EQ(loaded->schedule().alpha_bar(150), other.alpha_bar(150));
  for (const auto* text : {R"({"kind": "cosine", "first": 1e-4, "last": 0.02, "steps": 1000})", "cosine", R"({"kind": "linear"})"}) {
    EXPECT_THROW(write(text), Error) << text;
  }
}

TEST(LoadPrior, RefusesAnotherKindByName) {
  const testing::TemporaryFolder folder;
  write_safetensors(folder / "judge.safetensors", {{{"w", torch::ones({2})}}, {{"kind", "judge"}, {"architecture", "{}"}}});
  try {
    load_prior(folder / "judge.safetensors");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("judge"));
    EXPECT_THAT(error.what(), HasSubstr("expected"));
  }
}

}  // namespace
}  // namespace spnn
