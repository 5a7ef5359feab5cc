#include "templates/gemm_wgmma_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace lehr {
namespace {

using cpu::ceil_div;

/// Of the hand-written and library kernels (kernels.md section 3.2), with the 16-step columns of wgmma
/// between.
constexpr std::array<std::int64_t, 4> kRows = {64, 128, 192, 256};
constexpr std::array<std::int64_t, 20> kColumns = {8,   16,  24,  32,  48,  64,  80,  96,  112, 128,
                                                   144, 160, 176, 192, 208, 224, 240, 256, 320, 384};
/// Accumulators of a thread below which ptxas (13.0) copies them between iterations and gives up the overlap:
/// C7514 was seen at up to 64 of them, never above (300 sampled schedules).
constexpr std::int64_t kLeastInFlight = 72;
/// Of C, up to which the sides may be swapped: beyond, the sums would be written in short pieces for nothing.
constexpr std::int64_t kMaxRowsSwapped = 256;
/// Bytes of the two mbarriers of a stage, and of the pair that orders the consumers of ping-pong.
constexpr std::int64_t kBarrierBytes = 8;

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return ceil_div(value, multiple) * multiple;
}

/// Accumulators of a thread that ptxas (13.0) places without a spill or an advisory: kernels.md section 3.8;
/// the NVRTC test of the family holds them.
/// An epilogue's operands and functions take registers beside them: 128 sums of two consumers spilled.
std::int64_t most_accumulators(std::int64_t consumers, bool fused) {
  if (fused) return consumers == 3 ? 64 : 112;
  return consumers == 1 ? 192 : consumers == 2 ? 208 : 96;
}

/// Values of `all` that are below `extent`, and the first that covers it.
template <typename Values>
std::vector<std::int64_t> covering(const Values& all, std::int64_t extent) {
  std::vector<std::int64_t> values;
  for (const std::int64_t each : all) {
    values.push_back(each);
    if (each >= extent) break;
  }
  return values;
}

/// Widest swizzle whose rows divide `elements` along m or n; 0: none does.
std::int64_t span_of(std::int64_t elements, std::int64_t bytes) {
  for (const std::int64_t span : {128, 64, 32})
    if (elements * bytes % span == 0) return span;
  return 0;
}

/// "k16_f32_bf16" of bf16 operands; "" where wgmma does not multiply such.
std::string_view instruction_suffix(DType operand, DType accum) {
  if (operand == DType::kS8) return accum == DType::kS32 ? "k32_s32_s8" : "";
  if (accum != DType::kF32) return "";
  switch (operand) {
    case DType::kBF16:
      return "k16_f32_bf16";
    case DType::kF16:
      return "k16_f32_f16";
    case DType::kF32:
      return "k8_f32_tf32";
    case DType::kE4M3:
      return "k32_f32_e4m3";
    case DType::kE5M2:
      return "k32_f32_e5m2";
    default:
      return "";
  }
}

std::optional<std::string> why_not_types(const Gemm& g) {
  if (g.a.type != g.b.type)
    return fmt::format("A and B must have one type, not {} and {}", name_of(g.a.type), name_of(g.b.type));
  if (instruction_suffix(g.a.type, g.accum).empty())
    return fmt::format(
        "wgmma multiplies f16, bf16, tf32, e4m3 and e5m2 with sums in f32, s8 in s32, not {} in {}",
        name_of(g.a.type), name_of(g.accum));
  if (g.a.type == DType::kF32 && g.math != Math::kTf32)
    return fmt::format("wgmma rounds f32 to tf32; math={} does not permit it", name_of(g.math));
  const bool fits = g.c.type == g.accum || (g.c.type == g.a.type && size_of(g.a.type) == 2) ||
                    (size_of(g.a.type) == 1 && g.accum == DType::kF32 && size_of(g.c.type) == 2);
  if (!fits) return fmt::format("it cannot store sums in {} as {}", name_of(g.accum), name_of(g.c.type));
  return std::nullopt;
}

/// TMA needs lines of a multiple of 16 bytes.
std::optional<std::string> why_not_layout(const Gemm& g) {
  for (const bool is_a : {true, false}) {
    const Operand& operand = is_a ? g.a : g.b;
    const char* const name = is_a ? "A" : "B";
    const bool along_k = operand.layout == (is_a ? Layout::kRow : Layout::kColumn);
    const int bytes = size_of(operand.type);
    if (!along_k && bytes != 2)
      return fmt::format("wgmma takes {} only with k contiguous: {} must be stored by {}",
                         name_of(operand.type), name, is_a ? "rows" : "columns");
    const std::int64_t line = along_k ? g.k : (is_a ? g.m : g.n);
    if (line * bytes % 16 != 0)
      return fmt::format(
          "the lines of {} have {} bytes, and the tensor memory accelerator needs a multiple of 16", name,
          line * bytes);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> why_not_gemm_wgmma(const Workload& workload, const Limits& limits) {
  const Gemm& g = workload.gemm();
  if (limits.target != Target::kCuda || limits.arch != "sm_90a") return "it is for sm_90a";
  if (auto reason = why_not_types(g)) return reason;
  if (auto reason = why_not_layout(g)) return reason;
  // Tiles reach beyond the matrix; indices of what they do not touch must not overflow 32 bits either.
  const auto reach = [&](std::int64_t rows, std::int64_t columns) {
    return g.batch * rows * columns + 512 * (rows + columns) + 512 * 512;
  };
  if (std::max({reach(g.m, g.k), reach(g.k, g.n), reach(g.m, g.n)}) > INT32_MAX)
    return "an operand is too large for 32-bit indices";
  return std::nullopt;
}

std::string gemm_wgmma_instruction(const GemmWgmmaProblem& p, std::int64_t columns) {
  return fmt::format("wgmma_m64n{}{}", columns, instruction_suffix(p.operand, p.accum));
}

GemmWgmmaProblem gemm_wgmma_problem(const Workload& workload) {
  const Gemm& g = workload.gemm();
  return {cpu::problem_of(workload), g.a.type, g.c.type, g.accum};
}

GemmWgmmaSchedule gemm_wgmma_schedule(const Config& config) {
  GemmWgmmaSchedule s;
  s.swap_ab = config.at("swap_ab");
  s.bm = config.at("bm"), s.bn = config.at("bn"), s.k_atoms = config.at("k_atoms");
  s.consumers = config.at("consumers"), s.ping_pong = config.at("ping_pong");
  s.stages = config.at("stages"), s.in_flight = config.at("in_flight");
  s.persistent = config.at("persistent"), s.raster = config.at("raster");
  s.cluster_bm = config.at("cluster_bm"), s.cluster_bn = config.at("cluster_bn");
  s.store = config.at("store");
  return s;
}

GemmWgmmaTile gemm_wgmma_tile(const GemmWgmmaProblem& p, const GemmWgmmaSchedule& s, bool is_rows) {
  const bool is_a = is_rows == (s.swap_ab == 0);
  GemmWgmmaTile t;
  t.along_k = is_a ? p.a_along_k() : p.b_along_k();
  t.extent = is_a ? p.size.m : p.size.n;
  t.tile = is_rows ? s.bm : s.bn;
  t.slices = is_rows ? s.cluster_bn : s.cluster_bm;
  const std::int64_t parts = is_rows ? 1 : s.parts();
  if (t.along_k) {  // rows of 128 bytes of k, eight to a pattern
    t.box_inner = p.row();
    t.box_outer = t.tile / parts;
    t.boxes = s.k_atoms * parts;
    return t;
  }
  t.span = span_of(is_rows ? 64 : s.columns(), p.bytes());
  if (t.span == 0) t.span = 32;  // of points that the space rejects
  const std::int64_t bk = s.k_atoms * p.row();
  t.box_inner = t.span / p.bytes();
  t.box_outer = bk;
  t.boxes = t.tile / t.box_inner;
  t.leading = bk * t.span;
  t.stride = 8 * t.span;
  return t;
}

GemmWgmmaStage gemm_wgmma_stage(const GemmWgmmaProblem& p, const GemmWgmmaSchedule& s) {
  const std::int64_t bytes = size_of(p.output);
  GemmWgmmaStage stage;
  stage.span = span_of(s.bn, bytes);
  stage.box_columns = std::max<std::int64_t>(stage.span / bytes, 1);
  stage.rows = s.consumer_rows();
  stage.boxes = s.bn / stage.box_columns;
  stage.parts = s.consumers;
  return stage;
}

GemmWgmmaGrid gemm_wgmma_grid(const GemmWgmmaProblem& p, const GemmWgmmaSchedule& s, const Limits& limits) {
  GemmWgmmaGrid grid;
  grid.rows = ceil_div(s.swap_ab == 1 ? p.size.n : p.size.m, s.bm);
  grid.columns = ceil_div(s.swap_ab == 1 ? p.size.m : p.size.n, s.bn);
  grid.tiles = grid.rows * grid.columns * p.size.batch;
  const std::int64_t at_once = std::max<std::int64_t>(limits.cores / s.cluster(), 1) * s.cluster();
  grid.blocks = s.persistent == 1 ? std::min(grid.tiles, at_once) : grid.tiles;
  return grid;
}

// The sum over the warpgroups is what the multiprocessor has: 128 (96 + 240), 128 (40 + 2 x 232) and
// 128 (32 + 3 x 160) of 65536; the splits of the public kernels (kernels.md sections 3.1 and 3.8). Two
// consumers with many sums take 240.
GemmWgmmaRegisters gemm_wgmma_registers(const GemmWgmmaSchedule& s) {
  // ptxas unrolls a producer's loop as a whole where k is short, and its addresses then need more than 40.
  if (s.cluster() > 1 && s.consumers == 2 && s.accumulators() <= 128) return {72, 216};
  if (s.cluster() > 1 && s.consumers == 3) return {56, 152};
  if (s.consumers == 3) return {32, 160};
  if (s.consumers == 2 && s.accumulators() > 192) return {24, 240};
  if (s.consumers == 1) return {96, 240};
  return {40, 232};
}

std::int64_t gemm_wgmma_shared_bytes(const GemmWgmmaProblem& p, const GemmWgmmaSchedule& s) {
  const std::int64_t elements =
      gemm_wgmma_tile(p, s, true).stage_elements() + gemm_wgmma_tile(p, s, false).stage_elements();
  const GemmWgmmaStage stage = gemm_wgmma_stage(p, s);
  const std::int64_t of_c = s.store == 1 ? stage.parts * stage.part_elements() * size_of(p.output) : 0;
  return s.stages * elements * p.bytes() + of_c + 2 * round_up(s.stages * kBarrierBytes, 16) +
         (s.ping_pong == 1 ? 2 * kBarrierBytes : 0);
}

FamilySpace gemm_wgmma_space(const Workload& workload, const Limits& limits) {
  const GemmWgmmaProblem p = gemm_wgmma_problem(workload);
  const std::int64_t m = p.size.m, n = p.size.n;
  const bool fused = !workload.epilogue.empty();
  const std::int64_t rows_of_k = ceil_div(p.size.k, p.row());
  // Supersets are as narrow as the sizes allow: sampling draws from them.
  const bool may_swap = m <= kMaxRowsSwapped;
  const bool may_persist =
      ceil_div(std::max(m, n), 64) * ceil_div(std::min(m, n), 8) * p.size.batch > limits.cores;
  const auto flags = [](bool both) {
    return both ? std::vector<std::int64_t>{0, 1} : std::vector<std::int64_t>{0};
  };
  // 16 is the least that every type and layout can do.
  const auto columns_for = [](std::int64_t extent) {
    return covering(kColumns, std::max<std::int64_t>(extent, 16));
  };
  const std::int64_t longer = may_swap ? std::max(m, n) : m;
  const std::int64_t most_stages = std::max<std::int64_t>(2, rows_of_k * (may_persist ? 4 : 1));
  FamilySpace space("gemm_wgmma");
  const KnobId swap_ab =
      space.add("swap_ab", "1: n is on the side of 64 rows, for few rows of C", flags(may_swap));
  const KnobId bm =
      space.add_dependent("bm", "tile of C on the side of 64 rows", covering(kRows, longer),
                          [=](const Point& x) { return covering(kRows, x[swap_ab] == 1 ? n : m); });
  const KnobId bn =
      space.add_dependent("bn", "tile of C on the other side", columns_for(may_swap ? std::max(m, n) : n),
                          [=](const Point& x) { return columns_for(x[swap_ab] == 1 ? m : n); });
  const KnobId k_atoms =
      space.add("k_atoms", "k of a stage, in rows of 128 bytes",
                rows_of_k > 1 ? std::vector<std::int64_t>{1, 2} : std::vector<std::int64_t>{1});
  const KnobId consumers = space.add("consumers", "warpgroups that multiply", {1, 2, 3});
  const KnobId ping_pong =
      space.add("ping_pong", "consumers 0: share each tile, 1: take tiles in turn", flags(may_persist));
  const KnobId persistent =
      space.add("persistent", "1: one block per multiprocessor takes several tiles", flags(may_persist));
  const KnobId cluster_bm = space.add(
      "cluster_bm", "tiles along bm whose blocks bring each other the other side's operand", {1, 2});
  const KnobId cluster_bn = space.add("cluster_bn", "the same along bn", {1, 2});
  const bool may_store = n * size_of(p.output) % 16 == 0;  // the lines of C
  const KnobId store =
      space.add("store", "C 0: from registers, 1: through shared memory and the tensor memory accelerator",
                flags(may_store));
  std::vector<std::int64_t> stage_counts;
  for (const std::int64_t each : {2, 3, 4, 5, 6, 7, 8, 10, 12, 16})
    if (each <= most_stages) stage_counts.push_back(each);
  const KnobId stages = space.add("stages", "tiles of A and B in shared memory", stage_counts);
  const KnobId in_flight =
      space.add("in_flight", "groups of wgmma left running when the next stage is taken up", {0, 1});
  const KnobId raster =
      space.add("raster", "tiles along bm walked together, for the L2",
                covering(std::array<std::int64_t, 5>{1, 2, 4, 8, 16}, ceil_div(longer, 64)));

  const auto schedule = [=](const Point& x) {  // store and later: not read
    GemmWgmmaSchedule s;
    s.swap_ab = x[swap_ab], s.bm = x[bm], s.bn = x[bn], s.k_atoms = x[k_atoms], s.consumers = x[consumers];
    s.ping_pong = x[ping_pong];
    return s;
  };
  space.require("the instruction does not take so many columns", {swap_ab, bn}, [=](const Point& x) {
    const std::int64_t columns = x[bn] > 256 ? x[bn] / 2 : x[bn];
    const bool along_k = x[swap_ab] == 1 ? p.a_along_k() : p.b_along_k();
    if (!along_k && span_of(columns, p.bytes()) == 0) return false;
    if (p.operand == DType::kF32) return columns % 16 == 0;  // what 128 threads have equal shares of
    return p.operand != DType::kS8 || columns <= 24 || columns % 16 == 0;
  });
  space.require("consumers that take tiles in turn are two", {consumers, ping_pong},
                [=](const Point& x) { return x[ping_pong] == 0 || x[consumers] == 2; });
  space.require("the consumers' shares of a tile are not multiples of 64 rows", {bm, consumers, ping_pong},
                [=](const Point& x) { return x[ping_pong] == 1 || x[bm] % (64 * x[consumers]) == 0; });
  space.require("three consumers have registers for 192 columns only", {bn, consumers},
                [=](const Point& x) { return x[consumers] < 3 || x[bn] <= 192; });
  space.require(
      "more accumulators than a thread can hold", {bm, bn, k_atoms, consumers, ping_pong},
      [=](const Point& x) { return schedule(x).accumulators() <= most_accumulators(x[consumers], fused); });
  space.require("there is no second tile for a block", {swap_ab, bm, bn, persistent}, [=](const Point& x) {
    if (x[persistent] == 0) return true;
    GemmWgmmaSchedule s;
    s.swap_ab = x[swap_ab], s.bm = x[bm], s.bn = x[bn];
    return gemm_wgmma_grid(p, s, limits).tiles > limits.cores;
  });
  space.require("only persistent blocks have tiles to take in turn", {ping_pong, persistent},
                [=](const Point& x) { return x[ping_pong] == 0 || x[persistent] == 1; });
  space.require("the tiles do not divide among clusters", {swap_ab, bm, bn, cluster_bm, cluster_bn},
                [=](const Point& x) {
                  GemmWgmmaSchedule s;
                  s.swap_ab = x[swap_ab], s.bm = x[bm], s.bn = x[bn];
                  const GemmWgmmaGrid grid = gemm_wgmma_grid(p, s, limits);
                  return grid.rows % x[cluster_bm] == 0 && grid.columns % x[cluster_bn] == 0;
                });
  // Eight lines are one pattern of the swizzle.
  space.require("a block's slice of the other side's tile is not of eight lines", {swap_ab, bn, cluster_bm},
                [=](const Point& x) {
                  GemmWgmmaSchedule s;
                  s.swap_ab = x[swap_ab], s.bn = x[bn], s.cluster_bm = x[cluster_bm];
                  const GemmWgmmaTile tile = gemm_wgmma_tile(p, s, false);
                  return tile.box_outer % (8 * tile.slices) == 0;
                });
  space.require(
      "there are not as many multiprocessors as a cluster needs", {persistent, cluster_bm, cluster_bn},
      [=](const Point& x) { return x[persistent] == 0 || x[cluster_bm] * x[cluster_bn] <= limits.cores; });
  space.require("only C by rows goes through shared memory", {swap_ab, store},
                [=](const Point& x) { return x[store] == 0 || x[swap_ab] == 0; });
  space.require("the tile is too narrow for a swizzle of C", {bn, store},
                [=](const Point& x) { return x[store] == 0 || span_of(x[bn], size_of(p.output)) != 0; });
  space.require("needs more shared memory than a block may have",
                {swap_ab, bm, bn, k_atoms, consumers, ping_pong, store, stages}, [=](const Point& x) {
                  GemmWgmmaSchedule s = schedule(x);
                  s.stages = x[stages], s.store = x[store];
                  return gemm_wgmma_shared_bytes(p, s) <= limits.shared_bytes_per_block;
                });
  space.require("more stages than steps along k", {k_atoms, persistent, stages}, [=](const Point& x) {
    return x[stages] <= std::max<std::int64_t>(2, ceil_div(rows_of_k, x[k_atoms]) * (1 + 3 * x[persistent]));
  });
  space.require("ptxas serialises instructions in flight for so few accumulators",
                {bm, bn, consumers, ping_pong, in_flight}, [=](const Point& x) {
                  GemmWgmmaSchedule s;
                  s.bm = x[bm], s.bn = x[bn], s.consumers = x[consumers], s.ping_pong = x[ping_pong];
                  return x[in_flight] == 0 || s.accumulators() >= kLeastInFlight;
                });
  space.require("more tiles walked together than there are", {swap_ab, bm, cluster_bm, raster},
                [=](const Point& x) {
                  const std::int64_t tile = x[bm] * x[cluster_bm];
                  return x[raster] == 1 || x[raster] <= ceil_div(x[swap_ab] == 1 ? n : m, tile);
                });
  return space;
}

// The tile that the public kernels settle on (kernels.md sections 3.1 and 3.2) where it fills the
// multiprocessors, smaller ones where it does not; few rows of C go to the side of the columns (section 5).
Config gemm_wgmma_default(const Workload& workload, const Limits& limits) {
  const GemmWgmmaProblem p = gemm_wgmma_problem(workload);
  const FamilySpace space = gemm_wgmma_space(workload, limits);
  GemmWgmmaSchedule s;
  const auto fills = [&](std::int64_t bm, std::int64_t bn) {
    s.bm = bm, s.bn = bn, s.persistent = 0;
    return gemm_wgmma_grid(p, s, limits).tiles >= limits.cores;
  };
  if (p.size.m <= 64) {
    s.swap_ab = 1, s.bm = 64, s.bn = round_up(p.size.m, p.size.m > 32 ? 16 : 8), s.consumers = 1;
  } else if (!fills(128, 256) && !fills(128, 128) && !fills(128, 64)) {
    s.bm = 64, s.bn = 64, s.consumers = 1;
  }
  s.persistent = gemm_wgmma_grid(p, s, limits).tiles > limits.cores ? 1 : 0;
  const std::int64_t stage = gemm_wgmma_shared_bytes(p, s) / s.stages;
  s.stages = std::clamp<std::int64_t>(limits.shared_bytes_per_block / (stage + 64), 2, 12);
  return cpu::nearest_config(space, {s.swap_ab, s.bm, s.bn, s.k_atoms, s.consumers, s.ping_pong, s.persistent,
                                     1, 1, 0, s.stages, s.in_flight, 8});
}

}  // namespace lehr
