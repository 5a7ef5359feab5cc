#include "templates/shared/cpu_common.h"

#include <algorithm>
#include <set>
#include <utility>

#include "templates/shared/register_tile.h"

namespace lehr::cpu {

std::optional<std::string> why_not_cpu(const Workload& workload) {
  for (const TensorSpec& tensor : tensors_of(workload))
    if (tensor.type != DType::kF32) return "computes in f32 only";
  if (accum_of(workload) != DType::kF32) return "computes in f32 only";
  if (is_gated(workload.epilogue)) return kNoGate;
  return std::nullopt;
}

std::vector<std::int64_t> thread_counts(const Limits& limits) {
  if (limits.cores <= 1) return {1};
  return {1, limits.cores};
}

std::int64_t default_threads(const Workload& workload, const Limits& limits) {
  // Flops that a core performs in about a microsecond. With fewer, distributing the work would take longer
  // than the work (one or two cache misses).
  constexpr double kLeastFlops = 5e4;
  return flops_of(workload) >= kLeastFlops * limits.cores ? limits.cores : 1;
}

std::vector<std::int64_t> lane_counts(const Limits& limits) {
  const std::int64_t widest = std::max(4, limits.vector_bytes / 4);
  if (widest <= 4) return {4};
  return {widest / 2, widest};
}

std::vector<std::int64_t> register_rows(std::int64_t extent) {
  std::vector<std::int64_t> rows;
  for (const std::int64_t count : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 20, 24, 28})
    if (count <= extent) rows.push_back(count);
  return rows;
}

bool fits_registers(std::int64_t rows, std::int64_t vectors, const Limits& limits, const DotForm& form) {
  const std::int64_t registers = std::max(limits.vector_registers, 16);
  if (!form.is_plain())
    return rows * vectors + std::min<std::int64_t>(vectors, 4) * form.second_registers +
               form.product_registers + 1 <=
           registers;
  return rows * vectors + std::min<std::int64_t>(vectors, 4) + 1 <= registers || streams_b(rows, vectors);
}

std::vector<std::int64_t> register_vectors(std::int64_t columns, const Limits& limits,
                                           std::vector<std::int64_t> counts) {
  const std::int64_t narrowest = lane_counts(limits).front();
  std::erase_if(counts, [=](std::int64_t count) { return count > 1 && (count - 1) * narrowest >= columns; });
  return counts;
}

// With fewer accumulators than the multiply-add's latency x throughput (8 to 10), the units are not busy all
// the time.
bool too_few_accumulators(std::int64_t rows, std::int64_t vectors, std::int64_t most_rows,
                          std::int64_t most_vectors) {
  return rows * vectors < std::min<std::int64_t>(6, std::min<std::int64_t>(most_rows, 28) * most_vectors);
}

// One k of a tile of m rows takes the time of its multiply-adds or that of its loads (two per cycle), but not
// less than the latency of a multiply-add. The loop itself adds half a cycle.
Tiling fastest_tiling(std::int64_t extent, std::int64_t columns, std::int64_t lanes, std::int64_t spare,
                      const Limits& limits, const DotForm& form) {
  const auto half_cycles = [](std::int64_t m, std::int64_t nv) {
    return m == 0 ? 0 : std::max<std::int64_t>({m * nv, m + nv, 8}) + 1;
  };
  Tiling best;
  std::int64_t least = 0;
  for (const std::int64_t nv : {1, 2, 3, 4}) {
    if (nv > 1 && (nv - 1) * lanes >= columns) continue;
    for (const std::int64_t mr : register_rows(extent)) {
      if (!fits_registers(mr, nv + spare, limits, form)) continue;
      const std::int64_t all = extent / mr * half_cycles(mr, nv) + half_cycles(extent % mr, nv);
      const std::int64_t cost = all * ceil_div(columns, nv * lanes);
      if (least == 0 || cost < least) {
        least = cost;
        best = {mr, nv};
      }
    }
  }
  return best;
}

std::vector<std::int64_t> split_values(const Limits& limits, bool several) {
  if (limits.cores <= 1) return {0};
  if (several) return {0, 1, 2};
  return {0, 1};
}

ir::Block over_items(std::int64_t items, bool one_a_work_item, ir::VarId item, ir::VarId work_item,
                     ir::Block body) {
  if (items == 1) return body;
  if (!one_a_work_item) return ir::block(ir::loop(item, items, ir::LoopKind::kSerial, body));
  body.push_front(ir::Let{item, ir::var(work_item)});
  return body;
}

bool masks_are_free(const Limits& limits) {
  return limits.arch == "avx512";
}

std::vector<std::int64_t> up_to(std::int64_t extent, const std::vector<std::int64_t>& steps) {
  std::vector<std::int64_t> result;
  for (const std::int64_t step : steps) {
    result.push_back(step);
    if (step >= extent) break;
  }
  if (result.back() < extent) result.push_back(extent);
  return result;
}

std::vector<std::int64_t> up_to_any(const std::vector<std::int64_t>& extents,
                                    const std::vector<std::int64_t>& steps) {
  std::set<std::int64_t> values;
  for (const std::int64_t extent : extents) {
    const std::vector<std::int64_t> of_extent = up_to(extent, steps);
    values.insert(of_extent.begin(), of_extent.end());
  }
  return {values.begin(), values.end()};
}

bool is_up_to(std::int64_t value, std::int64_t extent, const std::vector<std::int64_t>& steps) {
  const auto at = std::ranges::lower_bound(steps, value);
  if (at == steps.end() || *at != value) return value == extent && extent > steps.back();
  return at == steps.begin() || at[-1] < extent;
}

std::vector<std::int64_t> powers_up_to(std::int64_t extent) {
  std::vector<std::int64_t> result = {1};
  while (result.back() < extent) result.push_back(result.back() * 2);
  return result;
}

bool is_power_up_to(std::int64_t value, std::int64_t extent) {
  return value == 1 || value / 2 < extent;
}

ir::Expr first_tile(ir::Expr work_item, std::int64_t tiles, std::int64_t work_items) {
  if (tiles % work_items == 0) return work_item * (tiles / work_items);
  return work_item * tiles / work_items;
}

ir::Expr first_tile(ir::Expr work_item, const ir::Expr& tiles, std::int64_t work_items) {
  if (const auto count = as_constant(tiles)) return first_tile(std::move(work_item), *count, work_items);
  return work_item * tiles / work_items;
}

ir::Expr tiles_in_block(const ir::Expr& first, const ir::Expr& end, std::int64_t owned, bool even,
                        const ir::Expr& block_index, std::int64_t block) {
  if (even && owned % block == 0) return ir::integer(block);
  return max(min(ir::integer(block), end - first - block_index * block), ir::integer(0));
}

ir::Block by_tile(const ir::Expr& tile, std::int64_t full, std::int64_t tail, ir::Block inner,
                  ir::Block edge) {
  if (tail == 0) return inner;
  if (full == 0) return edge;
  return ir::block(ir::If{lt(tile, ir::integer(full)), inner, edge});
}

}  // namespace lehr::cpu
