#include <gtest/gtest.h>
#include <spnn/checkpoint/module_state.h>
#include <spnn/core/errors.h>
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

TEST(ModuleState, AWidenedChainGivesWhatTheNarrowOneGaveAndItsNewChannelsLearn) {
  const auto narrow = [](std::uint64_t seed) { return Rng(seed).randn({3, 3}, torch::kFloat64); };
  const auto wide = [&](std::uint64_t seed, std::int64_t out, std::int64_t in) {
    return widened(narrow(seed), Rng(seed + 10).randn({out, in}, torch::kFloat64)).requires_grad_();
  };
  const auto x = Rng(4).randn({3, 2}, torch::kFloat64);
  const auto chain = [&](const Tensor& a, const Tensor& b, const Tensor& c) { return c.matmul(torch::silu(b.matmul(torch::silu(a.matmul(x))))); };
  const auto a = wide(1, 5, 3), b = wide(2, 6, 5), c = wide(3, 3, 6);
  const auto y = chain(a, b, c);
  EXPECT_THAT(y, TensorNear(chain(narrow(1), narrow(2), narrow(3)), 1e-12));
  y.square().sum().backward();
  EXPECT_GT(c.grad().narrow(1, 3, 3).abs().min().item<double>(), 0);   // new channels have something to say
  EXPECT_TRUE(torch::equal(widened(torch::ones({2}), torch::zeros({3})), torch::tensor({1.0F, 1.0F, 0.0F})));
  EXPECT_THROW(widened(torch::ones({3, 3}), torch::ones({2, 3})), Error);
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
