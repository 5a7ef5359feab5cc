#include "templates/gemm/cpu/gemm_cpu_space.h"

#include <algorithm>

#include "templates/shared/cpu_common.h"

namespace lehr {
namespace {

using Values = std::vector<std::int64_t>;

// Maximum number of bytes of a packed panel: one larger than any L3 slice only costs bandwidth.
constexpr std::int64_t kMaxPanelBytes = 64LL << 20;

const Values& k_steps() {
  static const Values steps = {8,   16,  32,  64,   96,   128,  192,  256,  320,
                               384, 512, 768, 1024, 1536, 2048, 4096, 8192, 16384};
  return steps;
}

using S = GemmCpuSchedule;

/// Returns the number of tiles of rows of a work item.
std::int64_t row_tiles(const ProductView& p, const S& s) {
  return ceil_div(ceil_div(p.m, s.mr), s.split == 0 ? s.threads : 1);
}
std::int64_t column_tiles(const ProductView& p, const S& s) {
  return ceil_div(ceil_div(p.n, s.nv * s.lanes), s.split == 1 ? s.threads : 1);
}
/// Returns whether every work item has at most one tile of columns.
bool one_column_tile(const ProductView& p, const Limits& limits) {
  return p.n <= cpu::lane_counts(limits).front();
}

void tile_knobs(Knobs<S>& k, const GemmCpuProduct& product, const Limits& limits) {
  const ProductView& p = product.p;
  const cpu::DotForm& form = *product.form;
  k.knob(&S::mr, "mr", "rows of C in registers", cpu::register_rows(p.m));
  // Lists contain few values that no valid config has, because sampling rejects whole draws.
  k.knob(&S::nv, "nv", "vectors of a row of C in registers",
         cpu::register_vectors(p.n, limits, {1, 2, 3, 4, 5, 6, 8}));
  k.forbid("needs more vector registers than there are",
           [=, &form](const S& s) { return !cpu::fits_registers(s.mr, s.nv, limits, form); });
  k.forbid("a tile is wider than the matrix",
           [=](const S& s) { return s.nv > 1 && (s.nv - 1) * s.lanes >= p.n; });
  k.forbid("too few accumulators to hide the latency of a multiply-add", [=](const S& s) {
    return cpu::too_few_accumulators(s.mr, s.nv, p.m, std::min<std::int64_t>(8, ceil_div(p.n, s.lanes)));
  });
  k.forbid("more threads than tiles", [=](const S& s) {
    const std::int64_t tiles = s.split == 0   ? ceil_div(p.m, s.mr)
                               : s.split == 1 ? ceil_div(p.n, s.nv * s.lanes)
                                              : p.batch;
    return s.threads > 1 && tiles < s.threads;
  });
}

/// Returns whether a block must have all of k, however long k is. Then one tile is the smallest block.
bool cannot_split_k(const GemmCpuProduct& product) {
  return !product.form->is_plain() && product.k_blocks.size() == 1;
}

/// Forbids packed blocks of A that are too large. If packing is a choice, also forbids those that do not pay.
void forbid_blocks_of_a(Knobs<S>& k, const GemmCpuProduct& product, const Limits& limits) {
  const ProductView p = product.p;
  const bool always = product.a == Panels::kPacked, one_block = cannot_split_k(product);
  const std::int64_t l2 = limits.l2_bytes > 0 ? limits.l2_bytes : 1 << 20;
  k.forbid("the packed block of A is larger than twice the L2 cache", [=](const S& s) {
    const std::int64_t rows = std::min(s.mc * s.mr, p.m + s.mr);
    return (always || s.pack_a == 1) && !(one_block && s.mc == 1) && rows * std::min(s.kc, p.k) * 4 > 2 * l2;
  });
  if (always) return;
  k.forbid("packing A does not pay for one tile of columns",
           [=](const S& s) { return s.pack_a == 1 && column_tiles(p, s) == 1; });
}

void forbid_blocks_of_b(Knobs<S>& k, const GemmCpuProduct& product) {
  const ProductView p = product.p;
  const bool always = product.b == Panels::kPacked, one_block = cannot_split_k(product);
  k.forbid("the packed block of B is too large", [=](const S& s) {
    const std::int64_t nr = s.nv * s.lanes, columns = std::min(s.nc * nr, p.n + nr);
    return (always || s.pack_b == 1) && !(one_block && s.nc == 1) &&
           columns * std::min(s.kc, p.k) * 4 > kMaxPanelBytes;
  });
  if (always) return;
  k.forbid("packing B does not pay for one tile of rows",
           [=](const S& s) { return s.pack_b == 1 && p.b != Layout::kColumn && row_tiles(p, s) == 1; });
}

void block_knobs(Knobs<S>& k, const GemmCpuProduct& product, const Limits& limits) {
  const ProductView p = product.p;
  k.knob(&S::kc, "kc", "k of one block; the last value covers all of k", product.k_blocks);
  k.knob(&S::mc, "mc", "tiles of rows of one block; the last value covers all", cpu::powers_up_to(p.m));
  k.only([=](const S& s) { return cpu::is_power_up_to(s.mc, row_tiles(p, s)); });
  if (product.a == Panels::kPacked) forbid_blocks_of_a(k, product, limits);
  k.knob(&S::nc, "nc", "tiles of columns of one block; the last value covers all",
         cpu::powers_up_to(ceil_div(p.n, cpu::lane_counts(limits).front())));
  k.only([=](const S& s) { return cpu::is_power_up_to(s.nc, column_tiles(p, s)); });
  if (product.b == Panels::kPacked) forbid_blocks_of_b(k, product);
  if (product.a == Panels::kChosen) {
    k.knob(&S::pack_a, "pack_a", "copy A's block into panels",
           one_column_tile(p, limits) ? Values{0} : Values{0, 1});
    forbid_blocks_of_a(k, product, limits);
  }
  if (product.b == Panels::kChosen) {
    Values ways = p.b == Layout::kColumn ? Values{1} : p.m == 1 ? Values{0} : Values{0, 1};
    if (p.constant_b) ways.push_back(S::kPrepacked);
    k.knob(&S::pack_b, "pack_b",
           p.constant_b ? "B: 1 its block copied into panels, 2 all of it laid out beforehand"
                        : "copy B's block into panels",
           ways);
    forbid_blocks_of_b(k, product);
  }
}

void prefetch_knob(Knobs<S>& k, Panels b, bool constant_b) {
  Values values = b == Panels::kChosen   ? Values{0, 1, 2, 4, 8, 16}
                  : b == Panels::kPacked ? Values{0, 4, 8, 16}
                                         : Values{0, 2, 4, 8, 16};
  // A row of a tile is one cache line or a few consecutive ones.
  if (constant_b) values.insert(values.end(), {32, 64});
  k.knob(&S::prefetch, "prefetch",
         "prefetch of B: 0 none, 1 the next tile, 2 the next tile shared out among the tiles of rows (not "
         "where B "
         "is packed), else rows ahead",
         values);
  if (constant_b) k.only([](const S& s) { return s.prefetch <= 16 || s.pack_b == S::kPrepacked; });
  if (b == Panels::kChosen)
    k.forbid("the next tile of a packed B follows by itself",
             [](const S& s) { return s.pack_b == 1 && s.prefetch != 0 && s.prefetch <= S::kNextTileShared; });
  if (b != Panels::kPacked)
    k.forbid("no tiles of rows that could share a prefetch",
             [](const S& s) { return s.prefetch == S::kNextTileShared && (s.mc == 1 || s.order == 1); });
}

}  // namespace

void gemm_cpu_product_knobs(Knobs<S>& k, const GemmCpuProduct& product, const Limits& limits) {
  const ProductView p = product.p;
  const bool narrow = one_column_tile(p, limits);
  cpu::thread_knobs(k, limits, p.batch > 1, product.shared_out);
  tile_knobs(k, product, limits);
  block_knobs(k, product, limits);
  k.knob(&S::order, "order", "outer loop inside a block: 0 columns, 1 rows",
         narrow || p.m == 1 ? Values{0} : Values{0, 1});
  k.forbid("the order of one loop has no meaning",
           [](const S& s) { return s.order == 1 && (s.mc == 1 || s.nc == 1); });
  k.knob(&S::ku, "ku", "k steps unrolled",
         p.k % 4 == 0   ? Values{1, 2, 4}
         : p.k % 2 == 0 ? Values{1, 2}
                        : Values{1});
  k.forbid("k is not a multiple of the unrolling",
           [=](const S& s) { return s.ku > 1 && (p.k % s.ku != 0 || std::min(s.kc, p.k) % s.ku != 0); });
  k.forbid("too much code", [](const S& s) { return s.ku > 1 && s.mr * s.nv * s.ku > 64; });
  prefetch_knob(k, product.b, p.constant_b);
  k.knob(&S::masked, "masked", "right edge: 0 micro-kernels of its own, 1 every vector masked",
         cpu::masks_are_free(limits) && !narrow && product.form->is_plain() ? Values{0, 1} : Values{0});
  k.only([=](const S& s) {
    const std::int64_t nr = s.nv * s.lanes;
    return s.masked == 0 || (p.n > nr && p.n % nr != 0);
  });
}

bool gemm_cpu_packs_a(const ProductView& p, const cpu::DotForm& form) {
  const bool lies_so = p.a == Layout::kRow && form.first == form.first_panel && p.k % form.group == 0;
  return !form.is_plain() && !lies_so;
}

void gemm_cpu_knobs(Knobs<S>& k, const Workload& workload, const Limits& limits) {
  GemmCpuProduct product;
  const cpu::DotForm& form = *cpu::dot_form(workload, limits);
  ProductView& p = product.p = product_view(workload);
  product.form = &form;
  if (!form.is_plain()) {
    product.a = gemm_cpu_packs_a(p, form) ? Panels::kPacked : Panels::kChosen;
    product.b = p.constant_b ? Panels::kPrepacked : Panels::kPacked;
    p.k = form.groups(p.k);
  }
  product.k_blocks = cpu::up_to(p.k, k_steps());
  // Between blocks of k the sums are stored in C, into which sums of pairs, or sums of another type, do not
  // fit. Besides, the column sums of a packed B are those of one block.
  const bool sums_of_block = cpu::needs_correction(workload, form) && !p.constant_b;
  if (p.gated || p.c_type != form.sums || sums_of_block) product.k_blocks = {product.k_blocks.back()};
  gemm_cpu_product_knobs(k, product, limits);
}

// BLIS's rules of thumb, adjusted by timing (bench/cpu_gemm has the outcome as "vs default"). A micro-tile
// with about as many vectors as rows needs few loads. A panel of B of a few times the size of L1 is
// prefetched from L2. For few rows, B is not packed but prefetched, in thin blocks of k; up to 36 rows are
// three tiles of 12. If B is packed beforehand and there is one tile of rows, B is read once from memory and
// needs no blocks: for 1 and 4 rows of 4096 x 4096, all of k at once is faster by a fourth than thin blocks.
// If B is packed beforehand and there are many rows, deep blocks, in which a tile of columns stays in the
// cache while the rows pass, are faster by 3 to 10 % (512^3, 1024^3, 64 x 1000 x 512, 83 x 4096 x 1024).
GemmCpuSchedule gemm_cpu_wanted(const Workload& workload, const Limits& limits) {
  constexpr std::int64_t kFewRows = 48, kTallTileRows = 24, kOneTileRows = 4;
  const ProductView p = product_view(workload);
  const std::int64_t registers = std::max(limits.vector_registers, 16);
  const std::int64_t rows = p.rows();
  const bool packs = rows >= kFewRows || (p.b == Layout::kColumn && !p.constant_b);
  const bool is_wide = registers >= 32 && (packs || rows < kTallTileRows);
  S s = {.threads = cpu::default_threads(workload, limits),
         .split = p.n >= rows ? 1 : 0,
         .lanes = cpu::lane_counts(limits).back()};
  s.nv = std::min<std::int64_t>(is_wide ? 4 : 2, ceil_div(p.n, s.lanes));
  s.mr = std::min<std::int64_t>(rows, std::min<std::int64_t>(12, (registers - s.nv - 1) / s.nv));
  while (s.mr > 1 && !cpu::fits_registers(s.mr, s.nv, limits, *cpu::dot_form(workload, limits))) --s.mr;
  if (packs) {
    s.kc = 256;
    s.mc = 8;
    s.nc = 8;
    s.pack_b = 1;
    s.order = 1;
    s.prefetch = 8;
  } else {
    s.kc = 96;
    s.mc = 4;
    s.nc = 16;
    s.pack_a = 1;
    s.prefetch = S::kNextTileShared;
  }
  if (!p.constant_b) return s;
  s.pack_b = S::kPrepacked;
  if (packs) {
    s.kc = 1024;
    s.mc = 16;
    s.order = 0;
    s.prefetch = 4;
  } else if (rows <= kOneTileRows) {
    s.kc = p.k;
    s.pack_a = 0;
    s.ku = 4;
    s.prefetch = S::kNoPrefetch;
  }
  return s;
}

}  // namespace lehr
