#include <gmock/gmock.h>
#include <spnn/core/rng.h>
#include <spnn/data/subsets.h>

#include <set>

namespace spnn {
namespace {

// 60 images of 20 people; every image has the colour of its number.
Dataset some_people(Identities& who) {
  Dataset set{.name = "some", .attributes = {"one"}};
  set.images = torch::arange(60, torch::kUInt8).view({60, 1, 1, 1});
  set.labels = torch::arange(60).to(torch::kFloat32).view({60, 1});
  for (std::int64_t i = 0; i < 60; ++i) {
    set.files.push_back(std::to_string(i) + ".jpg");
    set.splits.push_back(Split::val);
    who[std::to_string(i)] = 100 + i % 20;
  }
  return set;
}

TEST(HalfByPerson, DividesThePeopleAndNotTheirImages) {
  Identities who;
  const auto set = some_people(who);
  const auto a = half_by_person(set, who, 'a'), b = half_by_person(set, who, 'b');
  EXPECT_EQ(a.size() + b.size(), 60);
  EXPECT_GT(a.size(), 10);
  EXPECT_GT(b.size(), 10);
  std::set<std::int64_t> people;
  for (std::int64_t i = 0; i < a.size(); ++i) people.insert(people_of(a, who)[i].item<std::int64_t>());
  for (std::int64_t i = 0; i < b.size(); ++i) EXPECT_FALSE(people.contains(people_of(b, who)[i].item<std::int64_t>()));
  EXPECT_EQ(a.size(), 3 * std::ssize(people));
}

TEST(EverybodyFirst, BringsEveryPersonOnceBeforeAnybodyTwice) {
  Identities who;
  const auto set = shuffled(some_people(who), 3), ordered = everybody_first(set, who);
  const auto people = people_of(ordered, who);
  std::set<std::int64_t> first;
  for (std::int64_t i = 0; i < 20; ++i) first.insert(people[i].item<std::int64_t>());
  EXPECT_EQ(std::ssize(first), 20);
  EXPECT_EQ(ordered.files.front(), set.files.front()) << "the order is kept otherwise";
  EXPECT_TRUE(torch::equal(std::get<0>(ordered.images.flatten().sort()), std::get<0>(set.images.flatten().sort())));
}

TEST(Shuffled, IsAFunctionOfTheSeedAndKeepsWhatBelongsTogether) {
  Identities who;
  const auto set = some_people(who);
  const auto one = shuffled(set, 1), other = shuffled(set, 2);
  EXPECT_TRUE(torch::equal(one.images, shuffled(set, 1).images));
  EXPECT_FALSE(torch::equal(one.images, other.images));
  for (std::int64_t i = 0; i < 60; ++i) {
    const auto number = one.images[i].item<std::int64_t>();
    EXPECT_EQ(one.files[static_cast<std::size_t>(i)], std::to_string(number) + ".jpg");
    EXPECT_EQ(one.labels[i].item<double>(), static_cast<double>(number));
  }
}

}  // namespace
}  // namespace spnn
