// The deep-copying pointer and the visitor helper: what makes trees of variants values.
#include "base/box.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "base/overloaded.h"

namespace lehr {
namespace {

struct Tree {
  int value = 0;
  std::vector<Box<Tree>> children;
  friend bool operator==(const Tree&, const Tree&) = default;
};

TEST(Box, CopiesDeeply) {
  Tree tree{1, {Box<Tree>(Tree{2, {}}), Box<Tree>(Tree{3, {}})}};
  Tree copy = tree;
  EXPECT_EQ(copy, tree);
  copy.children[1]->value = 4;
  EXPECT_EQ(tree.children[1]->value, 3);
  EXPECT_NE(copy, tree);
  tree = copy;
  EXPECT_EQ(copy, tree);
}

TEST(Box, MovesWithoutCopying) {
  Box<std::string> box(std::string("text"));
  const std::string* at = &*box;
  const Box<std::string> moved = std::move(box);
  EXPECT_EQ(&*moved, at);
}

TEST(Box, SurvivesAssignmentToItself) {
  Box<std::string> box(std::string("text"));
  const Box<std::string>& same = box;
  box = same;
  EXPECT_EQ(*box, "text");
}

TEST(Box, CanTakeAPartOfItself) {
  Box<Tree> box(Tree{1, {Box<Tree>(Tree{2, {}})}});
  box = Box<Tree>(box->children[0]);
  EXPECT_EQ(box->value, 2);
}

TEST(Overloaded, CallsTheOneForTheAlternative) {
  const std::variant<int, std::string> value = std::string("x");
  EXPECT_EQ(std::visit(overloaded{[](int) { return 1; }, [](const std::string&) { return 2; }}, value), 2);
}

}  // namespace
}  // namespace lehr
