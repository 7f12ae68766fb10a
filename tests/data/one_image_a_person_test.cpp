#include <gtest/gtest.h>
#include <spnn/data/one_image_a_person.h>

#include <set>

using namespace spnn;

namespace {

// 300 images of 100 people.
Dataset three_of_each() {
  Dataset set;
  set.images = torch::zeros({300, 1, 2, 2}, torch::kUInt8);
  for (int i = 0; i < 300; ++i) set.files.push_back(std::to_string(i) + ".jpg");
  return set;
}

Identities hundred_people() {
  Identities people;
  for (int i = 0; i < 300; ++i) people[std::to_string(i)] = 1000 + i % 100;
  return people;
}

std::set<std::int64_t> as_set(const Tensor& values) {
  const auto v = values.contiguous();
  return {v.data_ptr<std::int64_t>(), v.data_ptr<std::int64_t>() + v.numel()};
}

}  // namespace

TEST(OneImageAPerson, IsDrawnBySeed) {
  const auto set = three_of_each();
  const auto people = hundred_people();
  const auto chosen = one_image_a_person(set, people, 30, 7);
  EXPECT_EQ(chosen.size(0), 30);
  EXPECT_EQ(as_set(people_of(set, people).index_select(0, chosen)).size(), 30U);
  EXPECT_TRUE(torch::equal(chosen, one_image_a_person(set, people, 30, 7)));
  EXPECT_FALSE(torch::equal(chosen, one_image_a_person(set, people, 30, 8)));
  EXPECT_EQ(one_image_a_person(set, people, 1000, 7).size(0), 100);
  EXPECT_EQ(one_image_a_person(set, {}, 1000, 7).size(0), 300);
}
