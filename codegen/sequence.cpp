// Each text contains its own copy of the prelude, so each is in a namespace of its own. The entry calls both.
#include "codegen/sequence.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"

namespace lehr {

Source in_sequence(const Source& first, const Source& second) {
  CHECK(first.target == second.target && first.target.has(Feature::kHostFunction));
  CHECK(first.entry != second.entry && first.launch.steps() == 1 && second.launch.steps() == 1);
  CHECK(second.params.size() <= first.params.size() && second.launch.prepack_work_items == 0);
  Source both = first;
  both.entry = first.entry + "_then_" + second.entry;
  both.launch.further_steps = 1;
  both.launch.work_items = std::max(first.launch.work_items, second.launch.work_items);
  both.scratch_bytes = std::max(first.scratch_bytes, second.scratch_bytes);
  both.text = fmt::format(
      "namespace first {{\n{}}}\nnamespace second {{\n{}}}\n"
      "extern \"C\" void {}(void* const* params, void* scratch, long task) {{\n"
      "  const long part = task % {};\n"
      "  if (task == part && part < {}) first::{}(params, scratch, part);\n"
      "  if (task != part && part < {}) second::{}(params, scratch, part);\n}}\n",
      first.text, second.text, both.entry, both.launch.work_items, first.launch.work_items, first.entry,
      second.launch.work_items, second.entry);
  if (first.launch.prepack_work_items > 0)
    both.text += fmt::format(
        "extern \"C\" void {}(void* const* params, void* scratch, long task) {{\n"
        "  first::{}(params, scratch, task);\n}}\n",
        prepack_entry(both.entry), prepack_entry(first.entry));
  return both;
}

}  // namespace lehr
