// Each text brings its own copy of the prelude, so each stands in a namespace.
#include "codegen/sequence.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"

namespace lehr {

Source in_sequence(const Source& first, const Source& second) {
  CHECK(first.target == second.target && first.target.has(Feature::kHostFunction));
  CHECK(first.entry != second.entry && first.then.empty() && second.then.empty());
  CHECK(second.params.size() <= first.params.size() && second.launch.prepack_parts == 0);
  Source both = first;
  both.text = fmt::format("namespace first {{\n{}}}\nnamespace second {{\n{}}}\n", first.text, second.text);
  both.scratch_bytes = std::max(first.scratch_bytes, second.scratch_bytes);
  both.then = {{second.entry, second.launch.parts}};
  return both;
}

}  // namespace lehr
