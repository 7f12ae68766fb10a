#include <spnn/checkpoint/models.h>
#include <spnn/checkpoint/safetensors.h>
#include <spnn/core/errors.h>
#include <spnn/data/identities.h>
#include <spnn/training/identity.h>

#include "support/damage.h"
#include "support/tensor_near.h"
#include "training/tiny.h"

using namespace spnn;
using namespace spnn::testing;
using ::testing::HasSubstr;

namespace {

// People of 8×8 pixels: everyone has a pattern, every picture adds noise. People `first` … are never those of another set.
Dataset tiny_people(std::int64_t people, std::int64_t images, std::uint64_t first) {
  Dataset set;
  set.name = "tiny people";
  set.multi_label = false;
  set.labels = torch::arange(people).repeat({images});
  std::vector<Tensor> pictures;
  for (std::int64_t i = 0; i < people * images; ++i) {
    const auto pattern = Rng(first + static_cast<std::uint64_t>(i % people)).randn({3, 4, 4}).repeat_interleave(2, 1).repeat_interleave(2, 2);
    pictures.push_back(127 + 40 * pattern + 15 * Rng(1000 * first + static_cast<std::uint64_t>(i)).randn({3, 8, 8}));
    set.files.push_back(std::to_string(i) + ".jpg");
  }
  for (std::int64_t p = 0; p < people; ++p) set.attributes.push_back(std::to_string(p));
  set.images = torch::stack(pictures).clamp(0, 255).to(torch::kUInt8);
  return set;
}

IdentityRecipe tiny_identity(std::int64_t steps) {
  IdentityRecipe recipe;
  recipe.network = {.image_size = 8, .widths = {8, 16}, .blocks = {1, 1}, .squeeze = 8, .features = 24, .outputs = 12, .mirror = true};
  recipe.scale = 12;
  recipe.margin = 0.1;
  recipe.margin_warmup = 20;
  recipe.augment = {.flip = true, .shift = 0};
  recipe.train = tiny_training(steps);
  return recipe;
}

}  // namespace

TEST(ComparePairs, CountsTheOrderedPairs) {
  const auto people = torch::tensor({0, 0, 1, 1}, torch::kInt64);
  const auto apart = torch::tensor({{1.f, 0.f}, {0.8f, 0.6f}, {0.f, 1.f}, {-0.6f, 0.8f}});
  const auto f = compare_pairs(apart, people);
  EXPECT_EQ(f.same_pairs, 2);
  EXPECT_EQ(f.different_pairs, 4);
  EXPECT_NEAR(f.same, 0.8, 1e-6);
  EXPECT_NEAR(f.different, (0 - 0.6 + 0.6 + 0) / 4, 1e-6);
  EXPECT_NEAR(f.auc, 1.0, 1e-12);
  const auto mixed = compare_pairs(apart, torch::tensor({0, 1, 1, 0}, torch::kInt64));   // same: 0.6, −0.6; others 0.8, 0, 0, 0.8
  EXPECT_NEAR(mixed.auc, (2 + 0) / 8.0, 1e-12);
  const auto equal = compare_pairs(torch::ones({4, 1}), people);
  EXPECT_NEAR(equal.auc, 0.5, 1e-12);   // ties count a half
  EXPECT_THAT(refusal([&] { compare_pairs(apart, torch::arange(4)); }), HasSubstr("pairs of one person"));
}

TEST(Identity, EmbedsToUnitLengthAndTheMirrorImageAlike) {
  const torch::NoGradGuard no_grad;
  Identity net(tiny_identity(1).network);
  const auto x = Rng(1).randn({5, 3, 8, 8});
  initialise_identity(net, Rng(3), x);
  const auto e = net.embed(x);
  EXPECT_EQ(e.sizes().vec(), (std::vector<std::int64_t>{5, 12}));
  EXPECT_THAT(e.norm(2, 1), TensorNear(torch::ones({5}), 1e-6));
  EXPECT_THAT(net.embed(x.flip(3)), TensorNear(e, 1e-6));
  EXPECT_GT((e[0] - e[1]).norm().item<double>(), 1e-3);
}

TEST(Identity, BeginsWithEmbeddingsThatPointApart) {
  const torch::NoGradGuard no_grad;
  Identity net(tiny_identity(1).network);
  const auto faces = 0.8 + 0.1 * Rng(1).randn({64, 3, 8, 8});   // much in common, as faces have
  initialise_identity(net, Rng(3), faces);
  const auto e = net.look(faces);
  EXPECT_LT(torch::matmul(e, e.t()).mean().item<double>(), 0.2);
}

TEST(IdentityTraining, TellsPeopleApartThatItNeverSaw) {
  const auto train = tiny_people(40, 6, 1), val = tiny_people(20, 4, 5000);
  const TemporaryFolder folder;
  IdentityObjective objective(tiny_identity(250), train, val);
  const double before = objective.validate().score;
  train_in(folder / "run", objective, tiny_training(250));
  EXPECT_LT(objective.validate().score, 0.7 * before);
  const auto net = load_identity(folder / "run/best.safetensors");
  EXPECT_FALSE(read_safetensors(folder / "run/best.safetensors").tensors.contains("people"));
  const auto x = to_unit(val.images.slice(0, 0, 4));
  EXPECT_THAT(net->embed(x).norm(2, 1), TensorNear(torch::ones({4}), 1e-6));
}

TEST(IdentityTraining, InterruptedAnywhereEndsWithTheSameBits) {
  const auto train = tiny_people(10, 4, 1), val = tiny_people(6, 3, 5000);
  const TemporaryFolder folder;
  expect_same_when_interrupted(folder, tiny_training(24), [&] { return std::make_unique<IdentityObjective>(tiny_identity(24), train, val); });
}

TEST(Identities, AreReadByNameAndMakeClassesOfPeople) {
  const TemporaryFolder folder;
  write_text_atomically(folder / "who.txt", "idx identity\n0.jpg 7\n1 30\n2 7\n3 4\n");
  const auto who = read_identities(folder / "who.txt");
  auto set = tiny_people(2, 2, 1);
  EXPECT_THAT(people_of(set, who), TensorNear(torch::tensor({7, 30, 7, 4}, torch::kInt64), 0));
  const auto all = with_people(set, who), pairs = with_people(set, who, 2);
  EXPECT_THAT(all.labels, TensorNear(torch::tensor({1, 2, 1, 0}, torch::kInt64), 0));
  EXPECT_EQ(pairs.size(), 2);
  EXPECT_THAT(pairs.files, ::testing::ElementsAre("0.jpg", "2.jpg"));
  EXPECT_TRUE(torch::equal(pairs.images[1], set.images[2]));
  set.files[1] = "nobody.jpg";
  EXPECT_THAT(refusal([&] { people_of(set, who); }), HasSubstr("none of 'nobody.jpg'"));
  write_text_atomically(folder / "bad.txt", "0 7\n0 8\n");
  EXPECT_THAT(refusal([&] { read_identities(folder / "bad.txt"); }), HasSubstr("bad.txt:2: expected every picture once"));
  write_text_atomically(folder / "bad.txt", "0 7\n1 x\n");
  EXPECT_THAT(refusal([&] { read_identities(folder / "bad.txt"); }), HasSubstr("bad.txt:2"));
}
