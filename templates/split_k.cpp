#include "templates/split_k.h"

#include <algorithm>
#include <utility>

namespace lehr {
namespace {

using namespace ir;

/// Shorter parts lose more to the exchange than the further blocks win.
constexpr std::int64_t kLeastK = 256;
constexpr std::int64_t kMaxWorkspaceBytes = 32 << 20;

/// First element of this thread's vector `i` of what part `part` left.
Expr slot(const SplitKSums& s, const SplitKPlace& place, const Expr& part, const Expr& i) {
  const std::int64_t in_tile = s.elements * s.threads;
  return (part * s.tiles + place.tile) * in_tile + (i * s.threads + var(place.thread)) * s.vec;
}

/// One body for each vector of the thread's sums.
template <typename Body>
Stmt each_vector(KernelBuilder& builder, const SplitKSums& s, const Body& body) {
  const VarId i = builder.var("i");
  return loop(i, s.elements / s.vec, LoopKind::kUnrolled, body(var(i)));
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
  s.partials =
      builder.param("partials", type, s.parts * s.tiles * s.threads * s.elements, Direction::kWorkspace);
  s.arrived = builder.param("arrived", DType::kU32, s.tiles, Direction::kWorkspace);
  s.ticket = builder.buffer("ticket", DType::kU32, Scope::kShared, 1);
  s.part = builder.buffer("split_part", type, Scope::kRegister, s.vec);
}

Block split_k_leave(KernelBuilder& builder, const SplitKSums& s, const SplitKPlace& place,
                    BufferId registers) {
  const int lanes = static_cast<int>(s.vec);
  return block(each_vector(builder, s,
                           [&](const Expr& i) {
                             return block(Store{s.partials, slot(s, place, place.part, i),
                                                load(registers, i * s.vec, lanes), lanes, std::nullopt});
                           }),
               Intrinsic{"device_fence", {}, {}, 0});
}

Block split_k_arrive(const SplitKSums& s, const Expr& tile, const Expr& first, Block last) {
  const Intrinsic arrive{"atomic_inc_u32",
                         {Touch{s.ticket, integer(0), 1, true}, Touch{s.arrived, tile, 1, true}},
                         {integer(s.parts - 1)},
                         0};
  return block(Barrier{}, If{first, block(arrive), {}}, Barrier{},
               If{eq(load(s.ticket, integer(0)), integer(s.parts - 1)), std::move(last), {}});
}

Block split_k_total(KernelBuilder& builder, const SplitKSums& s, const SplitKPlace& place,
                    BufferId registers) {
  const int lanes = static_cast<int>(s.vec);
  const VarId part = builder.var("from_split");
  const VarId e = builder.var("e");
  Block total =
      block(Intrinsic{"device_fence", {}, {}, 0}, each_vector(builder, s, [&](const Expr& i) {
              return block(Store{registers, i * s.vec, load(s.partials, slot(s, place, integer(0), i), lanes),
                                 lanes, std::nullopt});
            }));
  Block add = block(each_vector(builder, s, [&](const Expr& i) {
    const Expr at = i * s.vec + var(e);
    return block(
        Store{s.part, integer(0), load(s.partials, slot(s, place, var(part) + 1, i), lanes), lanes,
              std::nullopt},
        loop(e, s.vec, LoopKind::kUnrolled,
             block(Store{registers, at, load(registers, at) + load(s.part, var(e)), 1, std::nullopt})));
  }));
  total.push_back(loop(part, s.parts - 1, s.over_parts, std::move(add)));
  return total;
}

Block split_k_sum(KernelBuilder& builder, const SplitKSums& s, const SplitKPlace& place, BufferId registers,
                  Block then) {
  Block last = split_k_total(builder, s, place, registers);
  append(last, std::move(then));
  Block result = block(Alloc{s.ticket}, Alloc{s.part});
  for (Block part : {split_k_leave(builder, s, place, registers),
                     split_k_arrive(s, place.tile, eq(var(place.thread), integer(0)), std::move(last))})
    append(result, std::move(part));
  return result;
}

}  // namespace lehr
