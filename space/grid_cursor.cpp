// Depth-first, lexicographic walk over a space's valid configs; a subtree is left at its first broken
// rule.
#include <algorithm>

#include "space/space.h"

namespace lehr {

GridCursor::GridCursor(const Space& space) : space_(&space) {}

bool GridCursor::descend() {
  const FamilySpace& family = space_->families()[family_];
  if (prefix_.size() == family.knobs().size()) return false;
  auto values = family.values_after(prefix_, prefix_.size());
  std::reverse(values.begin(), values.end());
  choices_.push_back(std::move(values));
  return true;
}

std::optional<Config> GridCursor::next() {
  while (family_ < space_->families().size()) {
    const FamilySpace& family = space_->families()[family_];
    if (choices_.empty() && !descend()) {  // a family without knobs has one config
      ++family_;
      return family.config_of({});
    }
    while (!choices_.empty()) {
      prefix_.resize(choices_.size() - 1);
      if (choices_.back().empty()) {
        choices_.pop_back();
        continue;
      }
      prefix_.push_back(choices_.back().back());
      choices_.back().pop_back();
      if (family.holds(prefix_) && !descend()) return family.config_of(prefix_);
    }
    prefix_.clear();
    ++family_;
  }
  return std::nullopt;
}

}  // namespace lehr
