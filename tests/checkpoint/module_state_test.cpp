#include <gtest/gtest.h>
#include <spnn/checkpoint/module_state.h>
#include <spnn/core/rng.h>
#include <spnn/layers/layers.h>

#include "support/damage.h"
#include "support/tensor_near.h"

namespace spnn {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace spnn::testing;

class TwoLayers : public torch::nn::Module {
 public:
  TwoLayers() {
    register_module("first", std::make_shared<Linear>(3, 4));
    register_module("second", std::make_shared<Linear>(4, 2));
    register_buffer("step", torch::zeros({1}, torch::kInt64));
  }
};

std::map<std::string, Tensor> random_state() {
  std::map<std::string, Tensor> state;
  for (const auto& [name, tensor] : state_of(TwoLayers()))
    state[name] = Rng(state.size()).randn(tensor.sizes()).to(tensor.scalar_type());
  return state;
}

TEST(ModuleState, WhatIsLoadedIsWhatIsSaved) {
  TwoLayers module;
  const auto state = random_state();
  load_into(module, state, "test");
  EXPECT_EQ(state_of(module).size(), 5U);
  for (const auto& [name, tensor] : state_of(module))
    EXPECT_TRUE(torch::equal(tensor, state.at(name))) << name;
}

TEST(ModuleState, LoadingConvertsTheTypeAndMarksTheWeightsAsChanged) {
  TwoLayers module;
  auto state = random_state();
  const auto weight = module.named_parameters()["first.weight"];
  const auto version = weight._version();
  state["first.weight"] = state["first.weight"].to(torch::kFloat16);
  load_into(module, state, "test");
  EXPECT_EQ(weight.scalar_type(), torch::kFloat32);
  EXPECT_TRUE(weight.requires_grad());
  EXPECT_TRUE(torch::equal(weight.detach(), state["first.weight"].to(torch::kFloat32)));
  EXPECT_GT(weight._version(), version);  // caches per weight version notice
}

TEST(ModuleState, AMismatchListsAllThreeKindsAndChangesNothing) {
  TwoLayers module;
  auto state = random_state();
  state.erase("first.bias");
  state["third.bias"] = torch::ones(7);
  state["second.weight"] = torch::ones({2, 5});
  const auto text = refusal([&] { load_into(module, state, "model.pth"); });
  EXPECT_THAT(text,
              AllOf(HasSubstr("model.pth: expected the 5 tensors"), HasSubstr("missing (1): first.bias [4]"),
                    HasSubstr("unexpected (1): third.bias [7]"),
                    HasSubstr("wrong shape (1): second.weight [2, 5] instead of [2, 4]")));
  for (const auto& [name, tensor] : state_of(module))
    EXPECT_TRUE(torch::equal(tensor, torch::zeros_like(tensor)));
}

TEST(ModuleState, ALongListIsCut) {
  std::map<std::string, Tensor> found;
  for (int i = 0; i < 30; ++i) found[fmt::format("tensor{:02}", i)] = torch::ones(1);
  const auto text = mismatch({}, found);
  EXPECT_THAT(text, AllOf(HasSubstr("unexpected (30)"), HasSubstr("tensor07"), HasSubstr("and 22 more")));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("tensor08")));
}

}  // namespace
}  // namespace spnn
