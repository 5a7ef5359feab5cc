// Columns about the whole kernel and about its loops: extents, kinds, positions.
#include <algorithm>
#include <array>

#include "costmodel/feature_sections.h"

namespace lehr {
namespace {

constexpr std::size_t kSlots = 8;
constexpr std::array<std::string_view, kSlots> kSlotNames = {"serial0", "serial1", "serial2", "serial3",
                                                             "serial4", "serial5", "serial6", "serial7"};

/// Bytes moved by all threads. A branch counts as often as it is taken.
struct Moved {
  double all = 0;
  double guarded = 0;
  double global_read = 0;
  double global_written = 0;
  double workspace = 0;  ///< bytes of global workspaces, included in the global bytes
};

Moved moved_by(const KernelView& view) {
  Moved moved;
  for (const ir::Access& access : view.analysis.accesses) {
    const double bytes = view.moved_bytes(access);
    moved.all += bytes;
    if (access.guarded) moved.guarded += bytes;
    if (view.buffer_of(access).scope != ir::Scope::kGlobal) continue;
    (access.writes ? moved.global_written : moved.global_read) += bytes;
    if (view.is_workspace(access.buffer)) moved.workspace += bytes;
  }
  return moved;
}

}  // namespace

void add_kernel_columns(const FeatureContext& context, Columns& columns) {
  const KernelView& view = context.view;
  const ir::Analysis& a = view.analysis;
  const TextFacts& text = context.text;
  const Moved moved = moved_by(view);
  columns.add("is_cuda", "0/1", "the kernel is for CUDA", view.kernel.target.has(Feature::kBlocks) ? 1 : 0);
  columns.add("flops", "log2(flop)", "floating-point operations, branches as often as taken",
              log_scale(view.flops()));
  columns.add("unique_bytes", "log2(byte)", "distinct bytes of the parameters touched",
              log_scale(a.unique_global_bytes));
  columns.add("unique_intensity", "log2(flop/byte)",
              "flops per distinct parameter byte: the roofline's abscissa",
              log_scale(share_of(view.flops(), a.unique_global_bytes)));
  columns.add("global_read", "log2(byte)", "bytes of global loads as executed", log_scale(moved.global_read));
  columns.add("global_written", "log2(byte)", "bytes of global stores as executed",
              log_scale(moved.global_written));
  columns.add("workspace_moved", "log2(byte)", "of these: between blocks that share a tile of C",
              log_scale(moved.workspace));
  columns.add("staged_read", "log2(byte)", "bytes loaded from scratch or shared memory as executed",
              log_scale(a.scratch.read_bytes + a.shared.read_bytes));
  columns.add("staged_written", "log2(byte)", "bytes stored to scratch or shared memory as executed",
              log_scale(a.scratch.written_bytes + a.shared.written_bytes));
  columns.add("register_moved", "log2(byte)", "bytes read and written in register arrays as executed",
              log_scale(a.registers.read_bytes + a.registers.written_bytes));
  const double loads = text.memory_instructions;
  columns.add("memory_instructions", "log2(count)",
              "accesses outside registers that are issued, after unrolling", log_scale(loads));
  columns.add("flops_per_memory_instruction", "log2(flop)", "flops per access issued outside registers",
              log_scale(share_of(view.flops(), loads)));
  columns.add("arithmetic_lanes", "lanes", "mean vector width of the executed arithmetic instructions",
              share_of(text.arithmetic_lanes, text.arithmetic));
  columns.add("arithmetic_instructions", "log2(count)", "executed arithmetic instructions",
              log_scale(text.arithmetic));
  columns.add("intrinsic_flops_share", "share", "flops that intrinsics (tensor cores) do",
              std::min(1.0, share_of(text.intrinsic_flops, view.flops())));
  columns.add("divisions_per_flop", "log2(1+1024x)", "executed integer divisions and remainders per flop",
              log_scale(1024 * share_of(text.divisions, std::max(1.0, view.flops()))));
  columns.add("code_statements", "log2(count)", "statements with unrolled loops expanded: code size",
              log_scale(text.statements));
  columns.add("guarded_share", "share", "moved bytes that are under a condition or an active count",
              share_of(moved.guarded, moved.all));
  columns.add("prefetches", "log2(count)", "executed prefetches", log_scale(text.prefetches));
  columns.add("prefetch_distance", "log2(element)", "from what is read to what is prefetched then",
              log_scale(text.prefetch_distance));
  columns.add("loops", "count", "loops in the text", static_cast<double>(a.loops.size()));
}

void add_loop_columns(const FeatureContext& context, Columns& columns) {
  const KernelView& view = context.view;
  const ir::Analysis& a = view.analysis;
  std::array<int, kSlots> chosen;
  chosen.fill(-1);
  std::size_t used = 0;
  double unrolled = 1;
  double sequential = 1;
  for (std::size_t i = view.main_chain.size(); i-- > 0;) {
    const int l = view.main_chain[i];
    const ir::LoopInfo& loop = a.loops[static_cast<std::size_t>(l)];
    if (!is_sequential(loop.kind)) continue;
    if (used < kSlots) chosen[used++] = l;
    sequential *= static_cast<double>(loop.extent);
    if (loop.kind == ir::LoopKind::kUnrolled) unrolled *= static_cast<double>(loop.extent);
  }
  for (std::size_t i = 0; i < kSlots; ++i) {
    const ir::LoopInfo none;
    const bool present = chosen[i] >= 0;
    const ir::LoopInfo& loop = present ? a.loops[static_cast<std::size_t>(chosen[i])] : none;
    const std::string_view name = kSlotNames[i];
    columns.add(name, "_extent", "log2(count)",
                "iterations of the i-th sequential loop of the main chain, from the inside",
                log_scale(static_cast<double>(loop.extent)));
    columns.add(name, "_unrolled", "0/1", "it is unrolled", loop.kind == ir::LoopKind::kUnrolled ? 1 : 0);
    columns.add(name, "_flops", "log2(flop)", "flops of one of its iterations",
                log_scale(share_of(loop.flops, loop.iterations)));
    columns.add(name, "_working_set", "log2(byte)",
                "global and scratch bytes touched by one full execution of it",
                log_scale(present ? context.core.working_set(chosen[i]) : 0));
  }
  columns.add("chain_sequential", "log2(count)", "product of all sequential extents of the main chain",
              log_scale(sequential));
  columns.add("chain_unrolled", "log2(count)", "product of the unrolled extents of the main chain",
              log_scale(unrolled));
  columns.add("chain_depth", "count", "loops of the main chain", static_cast<double>(view.main_chain.size()));
  const auto& grid = a.launch.grid;
  const auto& block = a.launch.block;
  columns.add("grid_x", "log2(count)", "blocks in x", log_scale(static_cast<double>(grid[0])));
  columns.add("grid_y", "log2(count)", "blocks in y", log_scale(static_cast<double>(grid[1])));
  columns.add("grid_z", "log2(count)", "blocks in z", log_scale(static_cast<double>(grid[2])));
  columns.add("block_x", "log2(count)", "threads in x", log_scale(static_cast<double>(block[0])));
  columns.add("block_y", "log2(count)", "threads in y", log_scale(static_cast<double>(block[1])));
  columns.add("block_z", "log2(count)", "threads in z", log_scale(static_cast<double>(block[2])));
}

}  // namespace lehr
