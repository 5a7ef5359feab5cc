// Shared code of the CPU families: the knobs' value lists, and the split of tiles over work items.
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

/// Returns the reason why no CPU family serves the workload, a GEMM or a convolution (types, gates); nullopt
/// otherwise.
std::optional<std::string> why_not_cpu(const Workload& workload);

/// Returns {1, cores} or {1}.
std::vector<std::int64_t> thread_counts(const Limits& limits);
/// Returns the threads of a default schedule: all, unless there is too little work to share.
std::int64_t default_threads(const Workload& workload, const Limits& limits);
/// Returns vector lengths in f32 lanes: the widest and half of it.
std::vector<std::int64_t> lane_counts(const Limits& limits);
/// Returns the values of {1 .. 14, 16, 20, 24, 28} rows of a micro-kernel that are not beyond `extent`.
std::vector<std::int64_t> register_rows(std::int64_t extent);
/// Returns whether `rows` x `vectors` accumulators fit into the registers, together with up to four vectors
/// and one more, or with a factor of each row and one vector (streams_b()).
bool fits_registers(std::int64_t rows, std::int64_t vectors, const Limits& limits,
                    const DotForm& form = plain_form());

/// Returns those of `counts` vectors of a micro-kernel whose last vector is not beyond `columns` columns; a
/// count of 1 always is one of them.
std::vector<std::int64_t> register_vectors(std::int64_t columns, const Limits& limits,
                                           std::vector<std::int64_t> counts);
/// Returns whether this many accumulators cannot keep the units busy, although `most_rows` rows (28 at best)
/// and `most_vectors` vectors would allow more.
bool too_few_accumulators(std::int64_t rows, std::int64_t vectors, std::int64_t most_rows,
                          std::int64_t most_vectors);

/// A micro-kernel's accumulators.
struct Tiling {
  std::int64_t rows = 1, vectors = 1;
};
/// Returns the fastest tiling for `extent` rows x `columns` columns, among those that the registers hold
/// besides `spare` vectors a row.
Tiling fastest_tiling(std::int64_t extent, std::int64_t columns, std::int64_t lanes, std::int64_t spare,
                      const Limits& limits, const DotForm& form = plain_form());

/// Returns {0, 1} or, if there are `several` (images, matrices), {0, 1, 2}; {0} for one core.
std::vector<std::int64_t> split_values(const Limits& limits, bool several);
/// Adds the first knobs of most families: "threads", "split" and "lanes". `shared_out` is the meaning of
/// "split". With one thread it is 0.
template <typename S>
void thread_knobs(Knobs<S>& k, const Limits& limits, bool several, std::string_view shared_out) {
  k.knob(&S::threads, "threads", "CPU threads", thread_counts(limits));
  k.knob(&S::split, "split", shared_out, split_values(limits, several));
  k.only([](const S& s) { return s.split == 0 || s.threads > 1; });
  k.knob(&S::lanes, "lanes", "f32 lanes of a vector", lane_counts(limits));
}

/// Returns `body` for each of `items` (images, matrices): for the item with the work item's number if each
/// work item has one, else in a loop. Just the body if there is one item.
ir::Block over_items(std::int64_t items, bool one_a_work_item, ir::VarId item, ir::VarId work_item,
                     ir::Block body);

/// Returns whether a masked access of a vector is free: on AVX-512. Elsewhere it is a branch or a loop.
bool masks_are_free(const Limits& limits);
/// Returns those of `steps` (ascending) that are < extent, and the smallest one that covers it: "all" is
/// always the last value.
std::vector<std::int64_t> up_to(std::int64_t extent, const std::vector<std::int64_t>& steps);
/// Returns the values of up_to() for any of `extents`, ascending: the superset of a knob whose extent depends
/// on others.
std::vector<std::int64_t> up_to_any(const std::vector<std::int64_t>& extents,
                                    const std::vector<std::int64_t>& steps);
/// Returns whether up_to() has `value`.
bool is_up_to(std::int64_t value, std::int64_t extent, const std::vector<std::int64_t>& steps);
/// Does the same as up_to() for powers of two.
std::vector<std::int64_t> powers_up_to(std::int64_t extent);
/// Returns whether powers_up_to() has the power of two `value`.
bool is_power_up_to(std::int64_t value, std::int64_t extent);

/// Return the first tile of work item `work_item` when `tiles` are split evenly over `work_items`. The next
/// one's first tile is its end.
ir::Expr first_tile(ir::Expr work_item, std::int64_t tiles, std::int64_t work_items);
ir::Expr first_tile(ir::Expr work_item, const ir::Expr& tiles, std::int64_t work_items);

/// Returns the tiles in block `block_index` of at most `block` tiles, when the work item has [first, end),
/// `owned` tiles at most. A constant if the tiles are shared out evenly and the blocks divide them.
ir::Expr tiles_in_block(const ir::Expr& first, const ir::Expr& end, std::int64_t owned, bool even,
                        const ir::Expr& block_index, std::int64_t block);

/// Returns `inner` if tile < full, else `edge`. No branch if one of the two cannot happen (tail == 0 or full
/// == 0).
ir::Block by_tile(const ir::Expr& tile, std::int64_t full, std::int64_t tail, ir::Block inner,
                  ir::Block edge);

}  // namespace lehr::cpu
