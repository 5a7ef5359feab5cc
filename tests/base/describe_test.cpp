// A described struct as JSON and back.
#include "base/describe.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/describe_json.h"

namespace lehr {
namespace {

struct Part {
  int count = 0;
};
void describe(auto& field, Is<Part> auto& part) {
  field("count", part.count);
}
struct Whole {
  std::string name;
  std::optional<int> size;
  std::optional<Part> part;
  std::vector<Part> parts;
  double later = 0;
};
void describe(auto& field, Is<Whole> auto& whole) {
  field("name", whole.name);
  field("size", whole.size);
  field("part", whole.part);
  field("parts", whole.parts);
  field("later", whole.later, 2);
}
struct Plain {
  int count = 0;
};

static_assert(Described<Part> && Described<Whole>);
static_assert(!Described<Plain> && !Described<std::string> && !Described<int>);

TEST(Describe, EveryMemberIsOneOfTheObjectUnderItsName) {
  const Whole whole = {"a", std::nullopt, Part{3}, {{1}, {2}}, 0.5};
  const nlohmann::json document = whole;
  EXPECT_EQ(document.dump(),
            R"({"later":0.5,"name":"a","part":{"count":3},"parts":[{"count":1},{"count":2}],"size":null})");
}

TEST(Describe, AnObjectIsReadBackWhole) {
  const nlohmann::json document = {
      {"name", "b"}, {"size", 7}, {"part", nullptr}, {"parts", {{{"count", 4}}}}, {"later", 1.5}};
  const auto whole = document.get<Whole>();
  EXPECT_EQ(whole.size, 7);
  EXPECT_FALSE(whole.part);
  ASSERT_EQ(whole.parts.size(), 1u);
  EXPECT_EQ(whole.parts[0].count, 4);
  EXPECT_EQ(nlohmann::json(whole), document);
}

TEST(Describe, AMemberThatIsMissingOrOfAnotherTypeIsAnError) {
  nlohmann::json document = Whole();
  document.erase("later");
  EXPECT_THROW(document.get<Whole>(), nlohmann::json::exception);
  document["later"] = "soon";
  EXPECT_THROW(document.get<Whole>(), nlohmann::json::exception);
  document["later"] = 1;
  EXPECT_NO_THROW(document.get<Whole>());
}

TEST(Describe, WhatIsNotKnownIsNull) {
  EXPECT_TRUE(known_or_null(0.0).is_null());
  EXPECT_TRUE(known_or_null(std::string()).is_null());
  EXPECT_EQ(known_or_null(2.5), 2.5);
  EXPECT_EQ(known_or_null(std::string("x")), "x");
}

}  // namespace
}  // namespace lehr
