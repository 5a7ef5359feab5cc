#include "templates/shared/split_k.h"

#include <algorithm>
#include <utility>

namespace lehr {
namespace {

using namespace ir;

/// Minimum k of a part. Shorter parts lose more by the exchange of sums than the additional blocks gain.
constexpr std::int64_t kLeastK = 256;
constexpr std::int64_t kMaxWorkspaceBytes = 32 << 20;
/// Maximum number of registers of a thread for sums of other parts. If the compiler may unroll the loop over
/// the parts, it keeps the sums of all parts in flight at once. 7 x 32 sums spilled (gemm_simt's schedules,
/// NVRTC 13.0), and 6 x 32 in gemm_wgmma.
constexpr std::int64_t kSumsOnTheirWay = 96;

Expr first_of_tile(const SplitKSums& s, const SplitKPlace& place, const Expr& number) {
  return (number * s.tiles + place.tile) * (s.elements * s.threads);
}

/// Returns where this thread's vector `i` begins in area `number` of the workspace.
Expr slot(const SplitKSums& s, const SplitKPlace& place, const Expr& number, const Expr& i) {
  return first_of_tile(s, place, number) + split_k_vector(s, place.thread, i);
}

/// Returns one body for each vector of the thread's sums.
template <typename Body>
Block each_vector(KernelBuilder& builder, const SplitKSums& s, const Body& body) {
  const Unrolled i(builder, "i", s.elements / s.vec);
  return i.over(body(i.at));
}

}  // namespace

std::vector<std::int64_t> split_k_values(std::int64_t k) {
  std::vector<std::int64_t> values = {1, 2, 3, 4, 6, 8, 12, 16, 32};
  while (values.size() > 1 && values.back() * kLeastK > k) values.pop_back();
  return values;
}

bool may_split_k(const SplitK& split, std::int64_t k, std::int64_t blocks, std::int64_t part_bytes,
                 int cores) {
  if (split.parts == 1) return true;
  return split.least() >= 1 && split.parts * kLeastK <= k && blocks <= 2 * cores &&
         split.parts * part_bytes <= kMaxWorkspaceBytes;
}

std::int64_t default_split_k(std::int64_t k, std::int64_t blocks, int cores) {
  return std::clamp<std::int64_t>(cores / blocks, 1, std::max<std::int64_t>(1, k / kLeastK));
}

void add_split_k_buffers(KernelBuilder& builder, DType type, SplitKSums& s) {
  if ((s.places() - 1) * s.elements > kSumsOnTheirWay) s.over_parts = LoopKind::kRolled;
  s.partials =
      builder.param("partials", type, s.places() * s.tiles * s.threads * s.elements, Direction::kWorkspace);
  s.arrived = builder.param("arrived", DType::kU32, s.tiles, Direction::kWorkspace);
  s.ticket = builder.buffer("ticket", DType::kU32, Scope::kShared, 1);
  s.part = builder.buffer("split_part", type, Scope::kRegister, s.vec);
}

Expr split_k_vector(const SplitKSums& s, VarId thread, const Expr& i) {
  if (s.group == 0 || s.group == s.threads) return (i * s.threads + var(thread)) * s.vec;
  return var(thread) / s.group * (s.elements * s.group) + (i * s.group + var(thread) % s.group) * s.vec;
}

Expr split_k_run(const SplitKSums& s, const SplitKPlace& place, const Expr& group) {
  // Neighbouring parts, which arrive at about the same time, add to different areas.
  return first_of_tile(s, place, place.part % s.places()) + group * (s.elements * s.group);
}

Block split_k_leave(KernelBuilder& builder, const SplitKSums& s, const SplitKPlace& place,
                    BufferId registers) {
  const int lanes = static_cast<int>(s.vec);
  Block result = each_vector(builder, s, [&](const Expr& i) {
    return block(Store{s.partials, slot(s, place, place.part, i), load(registers, i * s.vec, lanes), lanes,
                       std::nullopt});
  });
  result.push_back(Intrinsic{"device_fence", {}, {}, 0});
  return result;
}

Block split_k_arrive(const SplitKSums& s, const Expr& tile, const Expr& first, Block last) {
  const Intrinsic arrive{"atomic_inc_u32",
                         {Touch{s.ticket, integer(0), 1, true}, Touch{s.arrived, tile, 1, true}},
                         {integer(s.parts - 1)},
                         0};
  return block(Barrier{}, If{first, block(arrive), {}}, Barrier{},
               If{eq(load(s.ticket, integer(0)), integer(s.parts - 1)), last, {}});
}

Block split_k_total(KernelBuilder& builder, const SplitKSums& s, const SplitKPlace& place,
                    BufferId registers) {
  const int lanes = static_cast<int>(s.vec);
  const VarId part = builder.var("from_split");
  const Unrolled e(builder, "e", s.vec);
  const std::int64_t places = s.places();
  Block total = block(Intrinsic{"device_fence", {}, {}, 0});
  append(total, each_vector(builder, s, [&](const Expr& i) {
           return block(Store{registers, i * s.vec, load(s.partials, slot(s, place, integer(0), i), lanes),
                              lanes, std::nullopt});
         }));
  Block add = each_vector(builder, s, [&](const Expr& i) {
    const Expr at = i * s.vec + e.at;
    Block one = block(Store{s.part, integer(0), load(s.partials, slot(s, place, var(part) + 1, i), lanes),
                            lanes, std::nullopt});
    append(one,
           e.over(block(Store{registers, at, load(registers, at) + load(s.part, e.at), 1, std::nullopt})));
    return one;
  });
  if (places > 1) total.push_back(loop(part, places - 1, s.over_parts, add));
  if (s.addends == 1) return total;
  const Unrolled z(builder, "z", s.vec);
  const VarId to = builder.var("place");
  const DType type = builder.kernel.buffer(s.part).type;
  append(total, z.over(block(Store{s.part, z.at, zero(type), 1, std::nullopt})));
  total.push_back(loop(to, places, s.over_parts, each_vector(builder, s, [&](const Expr& i) {
                         return block(Store{s.partials, slot(s, place, var(to), i),
                                            load(s.part, integer(0), lanes), lanes, std::nullopt});
                       })));
  return total;
}

Block split_k_sum(KernelBuilder& builder, const SplitKSums& s, const SplitKPlace& place, BufferId registers,
                  Block then) {
  Block last = split_k_total(builder, s, place, registers);
  append(last, then);
  Block result = block(Alloc{s.ticket}, Alloc{s.part});
  append(result, split_k_leave(builder, s, place, registers));
  append(result, split_k_arrive(s, place.tile, eq(var(place.thread), integer(0)), last));
  return result;
}

}  // namespace lehr
