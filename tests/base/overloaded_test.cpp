// The visitor helper.
#include "base/overloaded.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>

namespace lehr {
namespace {

TEST(Overloaded, CallsTheOneForTheAlternative) {
  const std::variant<int, std::string> value = std::string("x");
  EXPECT_EQ(std::visit(overloaded{[](int) { return 1; }, [](const std::string&) { return 2; }}, value), 2);
}

}  // namespace
}  // namespace lehr
