// Depth-first, lexicographic walk over a space's valid configs; a subtree is left at its first broken rule.
#include "space/space.h"

namespace lehr {

std::optional<Point> GridCursor::next() {
  for (; at_.family < space_->families().size(); ++at_.family, at_.knobs = {}) {
    const FamilySpace& family = space_->families()[at_.family];
    const std::size_t knobs = family.knobs().size();
    if (knobs == 0) {  // one config
      const Point only = at_;
      ++at_.family;
      return only;
    }
    for (;;) {
      if (at_.knobs[depth_] == family.knobs()[depth_].values.size()) {
        at_.knobs[depth_] = 0;
        if (depth_ == 0) break;
        ++at_.knobs[--depth_];
      } else if (!family.allows(at_, depth_)) {
        ++at_.knobs[depth_];
      } else if (depth_ + 1 < knobs) {
        ++depth_;
      } else {
        const Point found = at_;
        ++at_.knobs[depth_];
        return found;
      }
    }
  }
  return std::nullopt;
}

}  // namespace lehr
