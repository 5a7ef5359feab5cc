// Tests that errors name who can mend them, and that CHECK stays on in every build.
#include "base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace lehr {
namespace {

using testing::HasSubstr;

Error caught(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  throw std::logic_error("no Error was thrown");
}

TEST(Error, SaysItsKindAndItsSentence) {
  const Error user = caught([] { throw_user("no such {}: {}", "file", 7); });
  EXPECT_EQ(user.kind(), ErrorKind::kUser);
  EXPECT_STREQ(user.what(), "no such file: 7");
  EXPECT_EQ(caught([] { throw_environment("x"); }).kind(), ErrorKind::kEnvironment);
  EXPECT_EQ(caught([] { throw_not_found("x"); }).kind(), ErrorKind::kNotFound);
}

TEST(Check, NamesTheConditionThePlaceAndTheDetail) {
  const int i = 5;
  const Error error = caught([&] { CHECK(i < 3, "i={}", i); });
  EXPECT_EQ(error.kind(), ErrorKind::kInternal);
  EXPECT_THAT(error.what(), HasSubstr("i < 3"));
  EXPECT_THAT(error.what(), HasSubstr("error_test.cpp:"));
  EXPECT_THAT(error.what(), HasSubstr("i=5"));
  EXPECT_THAT(error.what(), testing::Not(HasSubstr("/"))) << "paths of the build machine must not be shown";
}

TEST(Check, EvaluatesItsConditionOnceAndItsDetailOnlyOnFailure) {
  int conditions = 0, details = 0;
  CHECK(++conditions == 1, "{}", ++details);
  EXPECT_EQ(conditions, 1);
  EXPECT_EQ(details, 0);
}

TEST(Check, IsOneStatement) {
  bool reached = false;
  if (reached)
    CHECK(false);
  else
    reached = true;
  EXPECT_TRUE(reached);
}

}  // namespace
}  // namespace lehr
