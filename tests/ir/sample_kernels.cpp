// See sample_kernels.h.
#include "tests/ir/sample_kernels.h"

namespace lehr::testing {

using namespace ir;

Kernel cpu_gemm() {
  constexpr std::int64_t kM = 12, kN = 32, kK = 20, kRows = 6, kColumns = 16, kLanes = 8;
  KernelBuilder b;
  b.kernel.name = "gemm_cpu";
  const BufferId a = b.param("a", DType::kF32, kM * kK, Direction::kIn);
  const BufferId bb = b.param("b", DType::kF32, kK * kN, Direction::kIn);
  const BufferId c = b.param("c", DType::kF32, kM * kN, Direction::kOut);
  const BufferId panel = b.buffer("panel", DType::kF32, Scope::kScratch, kK * kColumns);
  const BufferId acc = b.buffer("acc", DType::kF32, Scope::kRegister, kRows * kColumns, kLanes);
  const VarId t = b.var("t"), no = b.var("no"), kp = b.var("kp"), jp = b.var("jp"), i = b.var("i"),
              j = b.var("j");
  const VarId k = b.var("k"), row = b.var("row");

  const auto slot = [&] { return (var(i) * (kColumns / kLanes) + var(j)) * kLanes; };
  const auto for_tile = [&](Stmt body) {
    return loop(i, kRows, LoopKind::kUnrolled,
                block(loop(j, kColumns / kLanes, LoopKind::kUnrolled, block(std::move(body)))));
  };
  Stmt pack =
      Store{panel, var(kp) * kColumns + var(jp) * kLanes,
            load(bb, var(kp) * kN + var(no) * kColumns + var(jp) * kLanes, kLanes), kLanes, std::nullopt};
  Stmt clear = Store{acc, slot(), zero(DType::kF32, kLanes), kLanes, std::nullopt};
  Stmt multiply =
      Store{acc, slot(),
            fma(splat(load(a, (var(row) + var(i)) * kK + var(k)), kLanes),
                load(panel, var(k) * kColumns + var(j) * kLanes, kLanes), load(acc, slot(), kLanes)),
            kLanes, std::nullopt};
  Stmt write = Store{c, (var(row) + var(i)) * kN + var(no) * kColumns + var(j) * kLanes,
                     load(acc, slot(), kLanes), kLanes, std::nullopt};
  Block tile = block(
      Alloc{panel},
      loop(kp, kK, LoopKind::kSerial, block(loop(jp, kColumns / kLanes, LoopKind::kSerial, block(pack)))),
      Alloc{acc}, for_tile(clear), loop(k, kK, LoopKind::kSerial, block(for_tile(multiply))),
      for_tile(write));
  b.kernel.body = block(
      loop(t, kM / kRows, LoopKind::kParallel,
           block(Let{row, var(t) * kRows}, loop(no, kN / kColumns, LoopKind::kSerial, std::move(tile)))));
  return std::move(b.kernel);
}

Kernel cuda_gemm() {
  constexpr std::int64_t kM = 64, kN = 64, kK = 32, kTile = 32, kStep = 8, kThreads = 64;
  KernelBuilder b;
  b.kernel.name = "gemm_cuda";
  b.kernel.target = Target::kCuda;
  b.kernel.min_blocks_per_core = 2;
  const BufferId a = b.param("a", DType::kF32, kM * kK, Direction::kIn);
  const BufferId bb = b.param("b", DType::kF32, kK * kN, Direction::kIn);
  const BufferId c = b.param("c", DType::kF32, kM * kN, Direction::kOut);
  const BufferId tile_a = b.buffer("tile_a", DType::kF32, Scope::kShared, kTile * kStep);
  const BufferId tile_b = b.buffer("tile_b", DType::kF32, Scope::kShared, kStep * kTile);
  const BufferId acc = b.buffer("acc", DType::kF32, Scope::kRegister, 16);
  const VarId by = b.var("by"), bx = b.var("bx"), tx = b.var("tx"), ko = b.var("ko"), k = b.var("k"),
              i = b.var("i"), j = b.var("j"), row = b.var("row"), column = b.var("column");

  // A's tile is 32 rows of two 16-byte chunks, B's 8 rows of eight: one chunk of each per thread.
  Intrinsic copy_a{"cp_async_16",
                   {{tile_a, var(tx) / 2 * kStep + var(tx) % 2 * 4, 4, true},
                    {a, (var(by) * kTile + var(tx) / 2) * kK + var(ko) * kStep + var(tx) % 2 * 4, 4, false}},
                   {},
                   0};
  Intrinsic copy_b{"cp_async_16",
                   {{tile_b, var(tx) / 8 * kTile + var(tx) % 8 * 4, 4, true},
                    {bb, (var(ko) * kStep + var(tx) / 8) * kN + var(bx) * kTile + var(tx) % 8 * 4, 4, false}},
                   {},
                   0};
  const auto for_tile = [&](Stmt body) {
    return loop(i, 4, LoopKind::kUnrolled, block(loop(j, 4, LoopKind::kUnrolled, block(std::move(body)))));
  };
  const auto slot = [&] { return var(i) * 4 + var(j); };
  Stmt multiply = Store{acc, slot(),
                        fma(load(tile_a, (var(row) + var(i)) * kStep + var(k)),
                            load(tile_b, var(k) * kTile + var(column) + var(j)), load(acc, slot())),
                        1, std::nullopt};
  Stmt step = loop(ko, kK / kStep, LoopKind::kSerial,
                   block(copy_a, copy_b, Intrinsic{"cp_async_commit", {}, {}, 0},
                         Intrinsic{"cp_async_wait", {}, {integer(0)}, 0}, Barrier{},
                         loop(k, kStep, LoopKind::kUnrolled, block(for_tile(multiply))), Barrier{}));
  Stmt write = Store{c, (var(by) * kTile + var(row) + var(i)) * kN + var(bx) * kTile + var(column) + var(j),
                     load(acc, slot()), 1, std::nullopt};
  Block thread =
      block(Let{row, var(tx) / 8 * 4}, Let{column, var(tx) % 8 * 4}, Alloc{tile_a}, Alloc{tile_b}, Alloc{acc},
            for_tile(Store{acc, slot(), zero(DType::kF32), 1, std::nullopt}), step, for_tile(write));
  b.kernel.body = block(loop(by, kM / kTile, LoopKind::kBlockY,
                             block(loop(bx, kN / kTile, LoopKind::kBlockX,
                                        block(loop(tx, kThreads, LoopKind::kThreadX, std::move(thread)))))));
  return std::move(b.kernel);
}

}  // namespace lehr::testing
