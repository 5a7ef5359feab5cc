// What the CPU families share: the knobs' value lists, and the split of tiles over parts.
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

/// Reasons why no CPU family serves the workload, a GEMM or a convolution (types, gates); nullopt otherwise.
std::optional<std::string> why_not_cpu(const Workload& workload);

/// {1, cores} or {1}.
std::vector<std::int64_t> thread_counts(const Limits& limits);
/// Of them, what a schedule that nobody measured should take: all, unless the work is too little to share.
std::int64_t default_threads(const Workload& workload, const Limits& limits);
/// Vector lengths in f32 lanes: the widest and half of it.
std::vector<std::int64_t> lane_counts(const Limits& limits);
/// Those of {1 .. 14, 16, 20, 24, 28} rows of a micro-kernel that are not beyond `extent`.
std::vector<std::int64_t> register_rows(std::int64_t extent);
/// Whether `rows` x `vectors` accumulators fit, with up to four vectors beside them and one more, or with a
/// factor of each row and one vector (streams_b()).
bool fits_registers(std::int64_t rows, std::int64_t vectors, const Limits& limits,
                    const DotForm& form = plain_form());

/// Those of `counts` vectors of a micro-kernel of which at least one is needed to cover `columns`.
std::vector<std::int64_t> register_vectors(std::int64_t columns, const Limits& limits,
                                           std::vector<std::int64_t> counts);
/// Whether so many accumulators cannot keep the units busy, of those that `most_rows` rows (28 at best) and
/// `most_vectors` vectors allow.
bool too_few_accumulators(std::int64_t rows, std::int64_t vectors, std::int64_t most_rows,
                          std::int64_t most_vectors);

/// A micro-kernel's accumulators.
struct Tiling {
  std::int64_t rows = 1, vectors = 1;
};
/// Of those that the registers hold beside `spare` vectors a row, the one that covers `extent` rows x
/// `columns` columns in the least time.
Tiling fastest_tiling(std::int64_t extent, std::int64_t columns, std::int64_t lanes, std::int64_t spare,
                      const Limits& limits, const DotForm& form = plain_form());

/// {0, 1} or, where there are `several` (images, matrices), {0, 1, 2}; {0} of one core.
std::vector<std::int64_t> split_values(const Limits& limits, bool several);
/// The knobs that most families begin with: "threads", "split" and "lanes". `shared_out` says what the values
/// of "split" mean. One thread shares nothing out: 0.
template <typename S>
void thread_knobs(Knobs<S>& k, const Limits& limits, bool several, std::string_view shared_out) {
  k.knob(&S::threads, "threads", "CPU threads", thread_counts(limits));
  k.knob(&S::split, "split", shared_out, split_values(limits, several));
  k.only([](const S& s) { return s.split == 0 || s.threads > 1; });
  k.knob(&S::lanes, "lanes", "f32 lanes of a vector", lane_counts(limits));
}

/// `body` for each of `items` (images, matrices): of the part's number where each part has one, else in a
/// loop. No more than the body where there is one.
ir::Block over_items(std::int64_t items, bool one_a_part, ir::VarId item, ir::VarId part, ir::Block body);

/// Whether a masked access of a vector costs nothing: on AVX-512; elsewhere it is a branch or a loop.
bool masks_are_free(const Limits& limits);
/// Those of `steps` (ascending) that are < extent, and the smallest one that covers it: "all" is always the
/// last value.
std::vector<std::int64_t> up_to(std::int64_t extent, const std::vector<std::int64_t>& steps);
/// What up_to() says of any of `extents`, ascending: the superset of a knob whose extent depends on others.
std::vector<std::int64_t> up_to_any(const std::vector<std::int64_t>& extents,
                                    const std::vector<std::int64_t>& steps);
/// Whether up_to() has `value`.
bool is_up_to(std::int64_t value, std::int64_t extent, const std::vector<std::int64_t>& steps);
/// The same as up_to() for powers of two.
std::vector<std::int64_t> powers_up_to(std::int64_t extent);
/// Whether powers_up_to() has the power of two `value`.
bool is_power_up_to(std::int64_t value, std::int64_t extent);

/// First tile of part `part` when `tiles` are split evenly over `parts`; the next part's first is its end.
ir::Expr first_tile(ir::Expr part, std::int64_t tiles, std::int64_t parts);
ir::Expr first_tile(ir::Expr part, const ir::Expr& tiles, std::int64_t parts);

/// Tiles in block `block_index` of at most `block` tiles, when the part owns [first, end) and `owned` at
/// most. A constant when the tiles are shared out evenly and the blocks divide them.
ir::Expr tiles_in_block(const ir::Expr& first, const ir::Expr& end, std::int64_t owned, bool even,
                        const ir::Expr& block_index, std::int64_t block);

/// `inner` when tile < full, else `edge`; no branch where one of the two cannot happen (tail == 0 or full ==
/// 0).
ir::Block by_tile(const ir::Expr& tile, std::int64_t full, std::int64_t tail, ir::Block inner,
                  ir::Block edge);

}  // namespace lehr::cpu
