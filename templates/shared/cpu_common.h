// Shared code of the CPU families: the value lists of knobs, and the distribution of tiles over work items.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ceil_div.h"
#include "base/limits.h"
#include "ir/kernel.h"
#include "space/knobs.h"
#include "space/space.h"
#include "templates/shared/dot_form.h"
#include "templates/shared/product_view.h"
#include "workload/workload.h"

namespace lehr::cpu {

/// Explains why no CPU family serves the workload, which is a GEMM or a convolution (e.g. for its types or a
/// gate). Returns nullopt if that is not so.
std::optional<std::string> why_not_cpu(const Workload& workload);

/// Returns {1, cores} or {1}.
std::vector<std::int64_t> thread_counts(const Limits& limits);
/// Returns the number of threads of a default schedule: all cores, unless there is too little work to
/// distribute.
std::int64_t default_threads(const Workload& workload, const Limits& limits);
/// Returns the possible vector lengths in f32 lanes: the widest and half of it.
std::vector<std::int64_t> lane_counts(const Limits& limits);
/// Returns the possible rows of a micro-kernel: the values of {1 .. 14, 16, 20, 24, 28} up to `extent`.
std::vector<std::int64_t> register_rows(std::int64_t extent);
/// Returns whether `rows` x `vectors` accumulators fit into the registers together with the operands.
/// Operands are up to four vectors of B and one of A; with streams_b(), a factor for each row and one vector
/// of B.
bool fits_registers(std::int64_t rows, std::int64_t vectors, const Limits& limits,
                    const DotForm& form = plain_form());

/// Returns the possible vectors of a micro-kernel: the values of `counts` whose last vector begins before
/// `columns`. A count of 1 is always included.
std::vector<std::int64_t> register_vectors(std::int64_t columns, const Limits& limits,
                                           std::vector<std::int64_t> counts);
/// Returns whether `rows` x `vectors` accumulators are too few to keep the units busy, although up to
/// `most_rows` rows (28 are enough) and `most_vectors` vectors would be possible.
bool too_few_accumulators(std::int64_t rows, std::int64_t vectors, std::int64_t most_rows,
                          std::int64_t most_vectors);

/// A micro-kernel's accumulators.
struct Tiling {
  std::int64_t rows = 1, vectors = 1;
};
/// Returns the fastest tiling for `extent` rows x `columns` columns, among the tilings that fit into the
/// registers together with `spare` vectors per row.
Tiling fastest_tiling(std::int64_t extent, std::int64_t columns, std::int64_t lanes, std::int64_t spare,
                      const Limits& limits, const DotForm& form = plain_form());

/// Returns the values of "split": {0} for one core; {0, 1, 2} if there are `several` images or matrices;
/// otherwise {0, 1}.
std::vector<std::int64_t> split_values(const Limits& limits, bool several);
/// Adds the first knobs of most families: "threads", "split" and "lanes". `shared_out` is the description of
/// "split". With one thread "split" is 0.
template <typename S>
void thread_knobs(Knobs<S>& k, const Limits& limits, bool several, std::string_view shared_out) {
  k.knob(&S::threads, "threads", "CPU threads", thread_counts(limits));
  k.knob(&S::split, "split", shared_out, split_values(limits, several));
  k.only([](const S& s) { return s.split == 0 || s.threads > 1; });
  k.knob(&S::lanes, "lanes", "f32 lanes of a vector", lane_counts(limits));
}

/// Returns `body` for each of `items` (images, matrices). If `one_a_work_item`, each work item executes it
/// for the item with its own number, otherwise in a loop over all items. With one item it returns just the
/// body.
ir::Block over_items(std::int64_t items, bool one_a_work_item, ir::VarId item, ir::VarId work_item,
                     ir::Block body);

/// Returns whether a masked access of a vector is free. That holds on AVX-512; elsewhere it is a branch or a
/// loop.
bool masks_are_free(const Limits& limits);
/// Returns the values of `steps` (ascending) that are smaller than `extent`, and the next value, which covers
/// it. If no step covers `extent`, `extent` itself is the last value.
std::vector<std::int64_t> up_to(std::int64_t extent, const std::vector<std::int64_t>& steps);
/// Returns the union of up_to() for all of `extents`, ascending. For a knob whose extent depends on other
/// knobs.
std::vector<std::int64_t> up_to_any(const std::vector<std::int64_t>& extents,
                                    const std::vector<std::int64_t>& steps);
/// Returns whether up_to(extent, steps) contains `value`.
bool is_up_to(std::int64_t value, std::int64_t extent, const std::vector<std::int64_t>& steps);
/// Returns up_to() for the powers of two.
std::vector<std::int64_t> powers_up_to(std::int64_t extent);
/// Returns whether powers_up_to(extent) contains `value`, a power of two.
bool is_power_up_to(std::int64_t value, std::int64_t extent);

/// Returns the first tile of work item `work_item` when `tiles` are divided evenly over `work_items`. The
/// work item ends before the first tile of the next work item.
ir::Expr first_tile(ir::Expr work_item, std::int64_t tiles, std::int64_t work_items);
ir::Expr first_tile(ir::Expr work_item, const ir::Expr& tiles, std::int64_t work_items);

/// Returns the number of tiles in block `block_index`, where a block has at most `block` tiles. The work item
/// has the tiles [first, end), at most `owned` of them. The result is a constant if the tiles are distributed
/// evenly and `block` divides them.
ir::Expr tiles_in_block(const ir::Expr& first, const ir::Expr& end, std::int64_t owned, bool even,
                        const ir::Expr& block_index, std::int64_t block);

/// Returns a branch that executes `inner` if tile < full, else `edge`. Without a branch if only one of the
/// two can happen (tail == 0 or full == 0).
ir::Block by_tile(const ir::Expr& tile, std::int64_t full, std::int64_t tail, ir::Block inner,
                  ir::Block edge);

}  // namespace lehr::cpu
