#include "templates/gemm_cpu_space.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "templates/cpu_common.h"

namespace lehr {
namespace {

using cpu::ceil_div;

using Values = std::vector<std::int64_t>;

constexpr std::int64_t kMaxPanelBytes =
    64LL << 20;  // a packed panel larger than any L3 slice only costs bandwidth

const Values& k_steps() {
  static const Values steps = {8,   16,  32,  64,   96,   128,  192,  256,  320,
                               384, 512, 768, 1024, 1536, 2048, 4096, 8192, 16384};
  return steps;
}

/// `reads`, and the knob where there is one.
std::vector<KnobId> with(std::vector<KnobId> reads, KnobId knob) {
  if (knob.index >= 0) reads.push_back(knob);
  return reads;
}

}  // namespace

GemmCpuSchedule gemm_cpu_schedule(const Config& config) {
  KnobReader knobs(config);
  GemmCpuSchedule s;
  s.threads = knobs.at("threads");
  s.split = knobs.at("split");
  s.lanes = knobs.at("lanes");
  s.mr = knobs.at("mr");
  s.nv = knobs.at("nv");
  s.kc = knobs.at("kc");
  s.mc = knobs.at("mc");
  s.nc = knobs.at("nc");
  s.pack_a = config.find("pack_a").value_or(0);
  s.pack_b = config.find("pack_b").value_or(0);
  s.order = knobs.at("order");
  s.ku = knobs.at("ku");
  s.prefetch = knobs.at("prefetch");
  s.masked = knobs.at("masked");
  return s;
}

FamilySpace gemm_cpu_space(const Workload& workload, const Limits& limits, std::string family) {
  GemmCpuProduct product;
  const cpu::Problem& p = product.p = cpu::problem_of(workload);
  product.k_blocks = cpu::up_to(p.k, k_steps());
  // Between blocks of k the sums wait in C, where those of pairs have no room.
  if (p.gated) product.k_blocks = {product.k_blocks.back()};
  return gemm_cpu_space(product, limits, std::move(family));
}

FamilySpace gemm_cpu_space(const GemmCpuProduct& product, const Limits& limits, std::string family) {
  const cpu::Problem& p = product.p;
  FamilySpace space(std::move(family));
  const cpu::ThreadKnobs shared = cpu::add_thread_knobs(space, limits, p.batch > 1, product.shared);
  const KnobId threads = shared.threads, split = shared.split, lanes = shared.lanes;
  // Value lists hold what some valid config can take and little else: sampling rejects whole draws.
  const std::int64_t narrowest = cpu::lane_counts(limits).front();
  const bool one_column_tile = p.n <= narrowest;
  const KnobId mr = space.add("mr", "rows of C in registers", cpu::register_rows(p.m));
  Values vector_counts;
  for (const std::int64_t vectors : {1, 2, 3, 4, 5, 6, 8}) {
    if (vectors == 1 || (vectors - 1) * narrowest < p.n) vector_counts.push_back(vectors);
  }
  const KnobId nv = space.add("nv", "vectors of a row of C in registers", vector_counts);
  const KnobId kc = space.add("kc", "k of one block; the last value covers all of k", product.k_blocks);
  const auto row_tiles = [=](const Point& x) {
    return ceil_div(ceil_div(p.m, x[mr]), x[threads] > 1 && x[split] == 0 ? x[threads] : 1);
  };
  const auto column_tiles = [=](const Point& x) {
    return ceil_div(ceil_div(p.n, x[nv] * x[lanes]), x[threads] > 1 && x[split] == 1 ? x[threads] : 1);
  };
  const KnobId mc = space.add_dependent("mc", "tiles of rows of one block; the last value covers all",
                                        cpu::powers_up_to(p.m),
                                        [=](const Point& x) { return cpu::powers_up_to(row_tiles(x)); });
  const KnobId nc = space.add_dependent("nc", "tiles of columns of one block; the last value covers all",
                                        cpu::powers_up_to(ceil_div(p.n, cpu::lane_counts(limits).front())),
                                        [=](const Point& x) { return cpu::powers_up_to(column_tiles(x)); });
  KnobId pack_a, pack_b;
  if (product.a == Panels::kChosen)
    pack_a = space.add("pack_a", "copy A's block into panels", one_column_tile ? Values{0} : Values{0, 1});
  if (product.b == Panels::kChosen)
    pack_b = space.add("pack_b", "copy B's block into panels",
                       p.b == Layout::kColumn ? Values{1}
                       : p.m == 1             ? Values{0}
                                              : Values{0, 1});
  const auto packs = [](const Point& x, Panels panels, KnobId chosen) {
    return panels == Panels::kChosen ? x[chosen] == 1 : panels == Panels::kPacked;
  };
  const Panels a = product.a, b = product.b;
  const KnobId order = space.add("order", "outer loop inside a block: 0 columns, 1 rows",
                                 one_column_tile || p.m == 1 ? Values{0} : Values{0, 1});
  const KnobId ku = space.add("ku", "k steps unrolled",
                              p.k % 4 == 0   ? Values{1, 2, 4}
                              : p.k % 2 == 0 ? Values{1, 2}
                                             : Values{1});
  const KnobId prefetch = space.add("prefetch",
                                    "prefetch of B: 0 none, 1 the next tile, 2 the next tile shared out "
                                    "among the tiles of rows (not where B "
                                    "is packed), else rows ahead",
                                    b == Panels::kChosen   ? Values{0, 1, 2, 4, 8, 16}
                                    : b == Panels::kPacked ? Values{0, 4, 8, 16}
                                                           : Values{0, 2, 4, 8, 16});

  space.add_dependent("masked", "right edge: 0 micro-kernels of its own, 1 every vector masked",
                      cpu::masks_are_free(limits) && !one_column_tile ? Values{0, 1} : Values{0},
                      [=](const Point& x) {
                        const bool has_edge = p.n > x[nv] * x[lanes] && p.n % (x[nv] * x[lanes]) != 0;
                        return has_edge && cpu::masks_are_free(limits) ? Values{0, 1} : Values{0};
                      });

  space.require("needs more vector registers than there are", {mr, nv},
                [=](const Point& x) { return cpu::fits_registers(x[mr], x[nv], limits); });
  space.require("a tile is wider than the matrix", {nv, lanes},
                [=](const Point& x) { return x[nv] == 1 || (x[nv] - 1) * x[lanes] < p.n; });
  // Fewer accumulators than the multiply-add's latency x throughput (8 to 10) cannot keep the units busy.
  space.require("too few accumulators to hide the latency of a multiply-add", {mr, nv, lanes},
                [=](const Point& x) {
                  const std::int64_t most =
                      std::min<std::int64_t>(p.m, 28) * std::min<std::int64_t>(8, ceil_div(p.n, x[lanes]));
                  return x[mr] * x[nv] >= std::min<std::int64_t>(6, most);
                });
  space.require("more threads than tiles", {threads, split, mr, nv, lanes}, [=](const Point& x) {
    if (x[threads] == 1) return true;
    const std::int64_t tiles = x[split] == 0   ? ceil_div(p.m, x[mr])
                               : x[split] == 1 ? ceil_div(p.n, x[nv] * x[lanes])
                                               : p.batch;
    return tiles >= x[threads];
  });
  space.require("the packed block of A is larger than twice the L2 cache", with({mr, kc, mc}, pack_a),
                [=](const Point& x) {
                  const std::int64_t l2 = limits.l2_bytes > 0 ? limits.l2_bytes : 1 << 20;
                  return !packs(x, a, pack_a) ||
                         std::min(x[mc] * x[mr], p.m + x[mr]) * std::min(x[kc], p.k) * 4 <= 2 * l2;
                });
  space.require("the packed block of B is too large", with({nv, lanes, kc, nc}, pack_b), [=](const Point& x) {
    return !packs(x, b, pack_b) ||
           std::min(x[nc] * x[nv] * x[lanes], p.n + x[nv] * x[lanes]) * std::min(x[kc], p.k) * 4 <=
               kMaxPanelBytes;
  });
  if (b == Panels::kChosen)
    space.require(
        "packing B does not pay for one tile of rows", {threads, split, mr, nv, lanes, pack_b},
        [=](const Point& x) { return x[pack_b] == 0 || p.b == Layout::kColumn || row_tiles(x) > 1; });
  if (a == Panels::kChosen)
    space.require("packing A does not pay for one tile of columns", {threads, split, mr, nv, lanes, pack_a},
                  [=](const Point& x) { return x[pack_a] == 0 || column_tiles(x) > 1; });
  space.require("the order of one loop has no meaning", {mc, nc, order},
                [=](const Point& x) { return x[order] == 0 || (x[mc] > 1 && x[nc] > 1); });
  space.require("k is not a multiple of the unrolling", {kc, ku}, [=](const Point& x) {
    return x[ku] == 1 || (p.k % x[ku] == 0 && std::min(x[kc], p.k) % x[ku] == 0);
  });
  space.require("too much code", {mr, nv, ku},
                [=](const Point& x) { return x[ku] == 1 || x[mr] * x[nv] * x[ku] <= 64; });
  if (b == Panels::kChosen)
    space.require("the next tile of a packed B follows by itself", {pack_b, prefetch}, [=](const Point& x) {
      return x[pack_b] == 0 || x[prefetch] == 0 || x[prefetch] > GemmCpuSchedule::kNextTileShared;
    });
  if (b != Panels::kPacked)
    space.require("no tiles of rows that could share a prefetch", {mc, order, prefetch}, [=](const Point& x) {
      return x[prefetch] != GemmCpuSchedule::kNextTileShared || (x[mc] > 1 && x[order] == 0);
    });
  return space;
}

// BLIS's rules of thumb, adjusted by timing (bench/cpu_gemm has the outcome as "vs default"): a micro-tile of
// about as many vectors as rows keeps the loads few, a panel of B of a few times L1 is prefetched from L2.
// What few rows use is not packed but prefetched, in thin blocks of k; up to 36 rows are three tiles of 12.
Config gemm_cpu_default(const Workload& workload, const Limits& limits, std::string family) {
  constexpr std::int64_t kFewRows = 48, kTallTileRows = 24;
  const cpu::Problem p = cpu::problem_of(workload);
  const FamilySpace space = gemm_cpu_space(workload, limits, std::move(family));
  const std::int64_t lanes = cpu::lane_counts(limits).back();
  const std::int64_t registers = std::max(limits.vector_registers, 16);
  const bool packs = p.m >= kFewRows || p.b == Layout::kColumn;
  const bool is_wide = registers >= 32 && (packs || p.m < kTallTileRows);
  const std::int64_t nv = std::min<std::int64_t>(is_wide ? 4 : 2, ceil_div(p.n, lanes));
  const std::int64_t mr = std::min<std::int64_t>(p.m, std::min<std::int64_t>(12, (registers - nv - 1) / nv));
  const std::int64_t split = p.n >= p.m ? 1 : 0;
  const std::int64_t threads = cpu::default_threads(workload, limits);
  const Values wanted = packs ? Values{threads, split, lanes, mr, nv, 256, 8, 8, 0, 1, 1, 1, 8, 0}
                              : Values{threads, split, lanes, mr, nv, 96, 4, 16, 1, 0, 0, 1,
                                       GemmCpuSchedule::kNextTileShared, 0};
  return cpu::nearest_config(space, wanted);
}

}  // namespace lehr
