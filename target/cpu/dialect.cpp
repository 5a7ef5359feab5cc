#include <fmt/core.h>

#include <string>
#include <string_view>

#include "base/error.h"
#include "ir/uses.h"
#include "target/cpu/cpu_target.h"

namespace lehr {
namespace {

std::string type_name(DType type, int lanes) {
  return lanes == 1 ? scalar_name(type) : fmt::format("{}x{}", name_of(type), lanes);
}

std::string_view launch_index(ir::LoopKind kind) {
  CHECK(kind == ir::LoopKind::kParallel, "not a loop that a launch binds");
  return "task";
}

std::string entry_text(const ir::Kernel& kernel, const ir::Launch&, const EntryText& entry) {
  const ir::Uses uses = ir::uses_of(kernel, entry.block);
  std::string text =
      fmt::format("extern \"C\" void {}(void* const* params, void* scratch, long task) {{\n", entry.name);
  for (std::size_t i = 0; i < kernel.params.size(); ++i) {
    if (!uses.buffers[static_cast<std::size_t>(kernel.params[i].buffer)]) continue;
    const ir::Buffer& buffer = kernel.buffer(kernel.params[i].buffer);
    const ir::Direction direction = kernel.params[i].direction;
    const bool written = direction == entry.filled || direction == ir::Direction::kWorkspace;
    text += fmt::format("  {0}{1}* __restrict {2} = ({0}{1}*)params[{3}];\n", written ? "" : "const ",
                        scalar_name(buffer.type), buffer.name, i);
  }
  return text + "  (void)scratch, (void)task;\n" + entry.body + "}\n";
}

std::string launch_text(const ir::Launch& launch, std::int64_t scratch_bytes) {
  return fmt::format("// tasks: {}\n// scratch bytes of each: {}\n", launch.tasks, scratch_bytes);
}

}  // namespace

const Dialect kCpuDialect = {
    .index_type = "long",
    .restrict_word = "__restrict",
    .unroll_prefix = "#pragma GCC unroll ",
    .unroll_counted = true,
    .no_unroll = "#pragma GCC unroll 1",
    .block_barrier = "",
    .warp_barrier = "",
    .cluster_barrier = "",
    .register_align = "",
    .vector_in_memory = "*({}{}_u*)({})",
    .folds_offsets = false,
    .scalars_in_lanes = true,
    .type_name = &type_name,
    .launch_index = &launch_index,
    .entry = &entry_text,
    .launch_text = &launch_text,
    .snippet = &cpu_snippet,
    .snippets_needed_by = &cpu_snippets_needed_by,
};

}  // namespace lehr
