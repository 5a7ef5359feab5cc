// Columns about the machine: occupancy, waves, registers, coalescing, bank conflicts, barriers, pipelining.
#include <algorithm>
#include <cmath>

#include "costmodel/feature_sections.h"

namespace lehr {
namespace {

/// Returns the stride along thread x of the access that moves the most bytes in this role, in elements.
double thread_stride(const KernelView& view, BufferRole role) {
  const int hottest = view.hottest[static_cast<std::size_t>(role)];
  if (hottest < 0) return 0;
  const ir::Access& access = view.analysis.accesses[static_cast<std::size_t>(hottest)];
  std::size_t depth = access.strides.size();
  for (int l = access.loop; l >= 0 && depth > 0;) {
    const ir::LoopInfo& loop = view.analysis.loops[static_cast<std::size_t>(l)];
    --depth;
    if (loop.kind == ir::LoopKind::kThreadX) return static_cast<double>(access.strides[depth]);
    l = loop.parent;
  }
  return 0;
}

void add_residency_columns(const KernelView& view, Columns& columns) {
  const Residency& r = view.residency;
  columns.add("blocks", "log2(count)", "blocks of the grid, or tasks", log_scale(r.blocks));
  columns.add("threads_per_block", "log2(count)", "threads of one block", log_scale(r.threads));
  columns.add("warp_fill", "share", "threads / lanes of the block's warps",
              share_of(r.threads, r.warps * std::max(1, view.limits.warp_size)));
  columns.add("blocks_per_core", "count", "blocks that a core holds at once", r.blocks_per_core);
  columns.add("blocks_by_threads", "log2(count)", "blocks per core that the thread limit allows",
              log_scale(r.by_threads));
  columns.add("blocks_by_shared", "log2(count)", "blocks per core that shared memory allows",
              log_scale(r.by_shared));
  columns.add("blocks_by_registers", "log2(count)", "blocks per core that the register estimate allows",
              log_scale(r.by_registers));
  columns.add("occupancy", "share", "resident warps / the core's maximum", r.occupancy);
  columns.add("waves", "log2(ratio)", "blocks or tasks / what the device holds at once",
              log_ratio(r.waves, 1));
  columns.add("wave_efficiency", "share",
              "waves / waves rounded up: 1 is no idle tail; of one wave, times what its blocks do / what the "
              "busiest does",
              r.wave_efficiency);
}

void add_register_columns(const KernelView& view, Columns& columns) {
  const double bytes = view.text.register_bytes;
  columns.add("register_bytes", "log2(byte)", "register arrays of one thread that are alive together",
              log_scale(bytes));
  columns.add("registers_wanted", "log2(count)",
              "CUDA: estimated registers per thread; CPU: vector registers",
              log_scale(view.residency.registers));
  columns.add("register_share", "log2(count)",
              "CUDA: a core's registers / the threads that launch bounds promise it",
              log_scale(view.residency.core_share));
  columns.add("register_pressure", "ratio", "registers wanted / available, at most 8",
              std::min(8.0, share_of(view.residency.registers, view.residency.registers_most)));
}

/// Returns the value of the first buffer in the role; 0 if there is no such buffer.
double of_role(const FeatureContext& context, const std::pmr::vector<int>& by_buffer, BufferRole role) {
  const auto& roles = context.view.role_of_buffer;
  for (std::size_t i = 0; i < roles.size(); ++i)
    if (roles[i] == role) return by_buffer[i];
  return 0;
}

double tensor_gain(const FeatureContext& context) {
  const Limits& limits = context.view.limits;
  const Machine& machine = machine_of(limits.target);
  if (context.text.products_per_lane > 1) return std::log2(context.text.products_per_lane);
  if (!context.text.matrix_unit || machine.matrix_gflops == nullptr) return 0;
  return log_ratio(machine.matrix_gflops(*context.text.matrix_unit, limits), limits.peak_gflops_f32);
}

void add_launch_columns(const FeatureContext& context, Columns& columns) {
  columns.add("granted_registers", "count", "most that setmaxnreg gives a thread; 0: it has its share",
              context.text.granted_registers);
  columns.add("cluster_blocks", "count", "CUDA: blocks of a cluster",
              static_cast<double>(context.view.analysis.launch.cluster));
  columns.add("programmatic", "flag", "1: a launch begins while the one before it ends",
              context.view.analysis.launch.programmatic ? 1 : 0);
  columns.add("in0_hint", "0..2", "what the L2 is told of in0: 0: nothing, 1: the first to go, 2: to keep",
              of_role(context, context.text.hints, BufferRole::kInput0));
  columns.add("in1_hint", "0..2", "the same of in1",
              of_role(context, context.text.hints, BufferRole::kInput1));
  columns.add(
      "in0_block_starts", "log2(count)",
      "CUDA: distinct places where the first 32 blocks begin to read in0: the fewer, the more L2 shares",
      log_scale(of_role(context, context.text.block_starts, BufferRole::kInput0)));
  columns.add("in1_block_starts", "log2(count)", "the same of in1",
              log_scale(of_role(context, context.text.block_starts, BufferRole::kInput1)));
}

}  // namespace

void add_hardware_columns(const FeatureContext& context, Columns& columns) {
  const KernelView& view = context.view;
  const ir::Analysis& a = view.analysis;
  add_residency_columns(view, columns);
  add_register_columns(view, columns);

  const double shared = static_cast<double>(a.shared_bytes);
  columns.add("shared_bytes", "log2(byte)", "shared memory of one block", log_scale(shared));
  columns.add("shared_share", "share", "shared memory of one block / the most it may have",
              share_of(shared, static_cast<double>(view.limits.shared_bytes_per_block)));
  columns.add("scratch_bytes", "log2(byte)", "CPU: scratch memory of one task",
              log_scale(static_cast<double>(a.scratch_bytes)));

  const WarpFacts& warp = context.text.warp;
  columns.add("load_sectors", "log2(ratio)",
              "sectors per warp of global loads / the fewest possible; 0: coalesced",
              log_ratio(warp.load_ratio, 1));
  columns.add("store_sectors", "log2(ratio)", "the same of global stores", log_ratio(warp.store_ratio, 1));
  columns.add("worst_sectors", "log2(ratio)", "the same of the worst access", log_ratio(warp.worst_ratio, 1));
  columns.add("sector_bytes", "log2(byte)", "bytes of all sectors that global accesses ask for",
              log_scale(warp.sector_bytes));
  columns.add("in0_thread_stride", "log2(element)", "stride of in0 along thread x",
              log_scale(thread_stride(view, BufferRole::kInput0)));
  columns.add("in1_thread_stride", "log2(element)", "stride of in1 along thread x",
              log_scale(thread_stride(view, BufferRole::kInput1)));
  columns.add("out_thread_stride", "log2(element)", "stride of out along thread x",
              log_scale(thread_stride(view, BufferRole::kOutput)));
  columns.add("read_conflicts", "log2(ratio)", "mean bank conflict degree of shared loads",
              log_ratio(warp.read_conflict, 1));
  columns.add("write_conflicts", "log2(ratio)", "mean bank conflict degree of shared stores",
              log_ratio(warp.write_conflict, 1));
  columns.add("worst_conflicts", "log2(ratio)", "bank conflict degree of the worst access",
              log_ratio(warp.worst_conflict, 1));
  columns.add("shared_cycles", "log2(cycle)",
              "cycles of shared memory, conflicts included, summed over the SMs",
              log_scale(warp.shared_cycles));

  columns.add("barriers", "log2(count)", "barriers that one block executes", log_scale(a.barriers));
  columns.add("flops_per_barrier", "log2(flop)", "flops of one block per barrier; 0: no barrier",
              log_scale(share_of(view.flops() / std::max(1.0, view.residency.blocks), a.barriers)));
  columns.add("async_share", "share", "shared bytes written by asynchronous copies",
              std::min(1.0, share_of(context.text.async_bytes, std::max(a.shared.written_bytes, 1.0))));
  columns.add("pipeline_depth", "count", "groups of asynchronous copies in flight",
              context.text.pipeline_depth);
  columns.add("tensor_gain", "log2(ratio)",
              "rate of the instructions that multiply matrices, on the device, or on a CPU several "
              "neighbours at once, over "
              "that of f32; 0: none",
              tensor_gain(context));
  columns.add("stage_turns", "log2(count)", "stages that barriers are told of, all blocks together",
              log_scale(context.text.stage_turns));
  columns.add("product_waits", "log2(count)",
              "waits of a thread until no asynchronous product runs, summed over the blocks",
              log_scale(context.text.product_waits));
  columns.add("accelerator_written", "log2(byte)",
              "bytes that the tensor memory accelerator writes to global memory",
              log_scale(context.text.accelerator_written));
  add_launch_columns(context, columns);
}

}  // namespace lehr
