// Columns about the machine: occupancy, waves, registers, coalescing, bank conflicts, barriers, pipelining.
#include <algorithm>
#include <cmath>

#include "costmodel/feature_sections.h"

namespace lehr {
namespace {

constexpr double kSectorBytes =
    32;  // NVIDIA L1/L2 sector (Nsight Compute documentation, "sectors per request")

/// How the first warp's accesses fall, over all accesses of the kernel.
struct WarpFacts {
  double load_ratio = 0, store_ratio = 0, worst_ratio = 1;           // sectors / the fewest sectors possible
  double sector_bytes = 0;                                           // moved by global accesses as executed
  double read_conflict = 0, write_conflict = 0, worst_conflict = 1;  // degrees
  double shared_cycles = 0;                  // of one SM's shared memory, whole kernel
  std::array<double, 3> thread_stride = {};  // in0, in1, out, elements
};

/// Addresses of the first warp's threads relative to thread 0, in elements.
class WarpAddresses {
 public:
  explicit WarpAddresses(const ir::Launch& launch) {
    const std::int64_t x = std::max<std::int64_t>(1, launch.block[0]);
    const std::int64_t y = std::max<std::int64_t>(1, launch.block[1]);
    for (int t = 0; t < 32; ++t) {
      coordinates_[0][t] = t % x;
      coordinates_[1][t] = t / x % y;
      coordinates_[2][t] = t / x / y;
    }
  }
  void of(const std::array<std::int64_t, 3>& stride, std::int64_t (&out)[32]) const {
    for (int t = 0; t < 32; ++t) {
      out[t] =
          stride[0] * coordinates_[0][t] + stride[1] * coordinates_[1][t] + stride[2] * coordinates_[2][t];
    }
  }

 private:
  std::int64_t coordinates_[3][32];
};

std::array<std::int64_t, 3> thread_strides(const KernelView& view, const ir::Access& access) {
  std::array<std::int64_t, 3> strides = {0, 0, 0};
  std::size_t depth = access.strides.size();
  for (int l = access.loop; l >= 0 && depth > 0;
       l = view.analysis.loops[static_cast<std::size_t>(l)].parent) {
    --depth;
    const ir::LoopKind kind = view.analysis.loops[static_cast<std::size_t>(l)].kind;
    // Addresses only matter within a warp; the clamp keeps their arithmetic in range for absurd strides.
    const std::int64_t stride = std::clamp<std::int64_t>(access.strides[depth], -(1LL << 40), 1LL << 40);
    if (kind == ir::LoopKind::kThreadX) strides[0] = stride;
    if (kind == ir::LoopKind::kThreadY) strides[1] = stride;
    if (kind == ir::LoopKind::kThreadZ) strides[2] = stride;
  }
  return strides;
}

double sectors_of(std::int64_t (&address)[32], double access_bytes, std::int64_t element) {
  const std::int64_t least = *std::min_element(address, address + 32);
  for (std::int64_t& a : address) a = (a - least) * element / kSectorBytes;
  if (!std::is_sorted(address, address + 32)) std::sort(address, address + 32);
  const auto distinct = static_cast<double>(std::unique(address, address + 32) - address);
  return distinct * std::max(1.0, access_bytes / static_cast<double>(kSectorBytes));
}

WarpFacts warp_facts(const FeatureContext& context) {
  const KernelView& view = context.view;
  const WarpAddresses warp(view.analysis.launch);
  WarpFacts facts;
  double loaded = 0, stored = 0, read = 0, written = 0;
  for (const ir::Access& access : view.analysis.accesses) {
    const ir::Scope scope = view.buffer_of(access).scope;
    if (scope != ir::Scope::kGlobal && scope != ir::Scope::kShared) continue;
    const double element = view.element_bytes(access);
    const double bytes = access.lanes * element;
    const double weight = view.moved_bytes(access);
    std::int64_t address[32];
    warp.of(thread_strides(view, access), address);
    if (scope == ir::Scope::kGlobal) {
      const double sectors = sectors_of(address, bytes, static_cast<std::int64_t>(element));
      const double ratio = sectors / std::max(1.0, std::ceil(32 * bytes / static_cast<double>(kSectorBytes)));
      (access.writes ? facts.store_ratio : facts.load_ratio) += weight * ratio;
      (access.writes ? stored : loaded) += weight;
      facts.worst_ratio = std::max(facts.worst_ratio, ratio);
      facts.sector_bytes += sectors * static_cast<double>(kSectorBytes) * view.issued(access) / 32;
      continue;
    }
    const int words = static_cast<int>(std::clamp(bytes / 4, 1.0, 4.0));
    double degree = context.text.swizzled_conflicts[static_cast<std::size_t>(access.buffer)];
    if (degree == 0) {
      for (std::int64_t& a : address) a = a * static_cast<std::int64_t>(element) / 4;
      degree = bank_conflict_degree(address, words);
    }
    (access.writes ? facts.write_conflict : facts.read_conflict) += weight * degree;
    (access.writes ? written : read) += weight;
    facts.worst_conflict = std::max(facts.worst_conflict, degree);
    facts.shared_cycles += view.issued(access) / 32 * std::max(1.0, bytes / 4) * degree;
  }
  facts.load_ratio = share_of(facts.load_ratio, loaded);
  facts.store_ratio = share_of(facts.store_ratio, stored);
  facts.read_conflict = share_of(facts.read_conflict, read);
  facts.write_conflict = share_of(facts.write_conflict, written);
  for (std::size_t r = 0; r < 3; ++r) {
    if (view.hottest[r] < 0) continue;
    const ir::Access& access = view.analysis.accesses[static_cast<std::size_t>(view.hottest[r])];
    facts.thread_stride[r] = static_cast<double>(thread_strides(view, access)[0]);
  }
  return facts;
}

void add_residency_columns(const KernelView& view, Columns& columns) {
  const Residency& r = view.residency;
  columns.add("blocks", "log2(count)", "blocks of the grid, or tasks", log_scale(r.blocks));
  columns.add("threads_per_block", "log2(count)", "threads of one block", log_scale(r.threads));
  columns.add("warp_fill", "share", "threads / lanes of the block's warps",
              view.cuda ? share_of(r.threads, r.warps * std::max(1, view.limits.warp_size)) : 1);
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
  columns.add("wave_efficiency", "share", "waves / waves rounded up: 1 is no idle tail", r.wave_efficiency);
}

void add_register_columns(const KernelView& view, Columns& columns) {
  const double bytes = static_cast<double>(view.analysis.register_bytes);
  // CUDA: 32-bit registers of a thread. CPU: vector registers.
  const double wanted = view.cuda ? view.residency.registers : share_of(bytes, view.limits.vector_bytes);
  const double available = view.cuda ? view.limits.max_registers_per_thread : view.limits.vector_registers;
  columns.add("register_bytes", "log2(byte)", "register arrays of one thread", log_scale(bytes));
  columns.add("registers_wanted", "log2(count)",
              "CUDA: estimated registers per thread; CPU: vector registers", log_scale(wanted));
  columns.add("register_pressure", "ratio", "registers wanted / available, at most 8",
              std::min(8.0, share_of(wanted, available)));
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

  const WarpFacts warp = view.cuda ? warp_facts(context) : WarpFacts{};
  columns.add("load_sectors", "log2(ratio)",
              "sectors per warp of global loads / the fewest possible; 0: coalesced",
              log_ratio(warp.load_ratio, 1));
  columns.add("store_sectors", "log2(ratio)", "the same of global stores", log_ratio(warp.store_ratio, 1));
  columns.add("worst_sectors", "log2(ratio)", "the same of the worst access", log_ratio(warp.worst_ratio, 1));
  columns.add("sector_bytes", "log2(byte)", "bytes of all sectors that global accesses ask for",
              log_scale(warp.sector_bytes));
  columns.add("in0_thread_stride", "log2(element)", "stride of in0 along thread x",
              log_scale(warp.thread_stride[0]));
  columns.add("in1_thread_stride", "log2(element)", "stride of in1 along thread x",
              log_scale(warp.thread_stride[1]));
  columns.add("out_thread_stride", "log2(element)", "stride of out along thread x",
              log_scale(warp.thread_stride[2]));
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
              log_scale(share_of(a.flops / std::max(1.0, view.residency.blocks), a.barriers)));
  columns.add("async_share", "share", "shared bytes written by asynchronous copies",
              std::min(1.0, share_of(context.text.async_bytes, std::max(a.shared.written_bytes, 1.0))));
  columns.add("pipeline_depth", "count", "groups of asynchronous copies in flight",
              context.text.pipeline_depth);
}

}  // namespace lehr
