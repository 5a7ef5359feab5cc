// The layout of accumulators is that of PTX ISA 9.0, "Matrix Fragments for mma.m16n8k16": lane l holds
// columns 2 (l % 4) and the next of rows l / 4 and l / 4 + 8.
#include "templates/gemm_mma_write.h"

namespace lehr {
namespace {

using namespace ir;

class Writer {
 public:
  Writer(KernelBuilder& builder, const GemmMmaProblem& problem, const GemmMmaSchedule& schedule,
         const GemmMmaOutput& output)
      : b_(builder), p_(problem), s_(schedule), out_(output) {}

  /// Each lane writes its pairs of columns.
  Block direct() {
    const Pair at = pair();
    const VarId row = b_.var("row");
    const VarId column = b_.var("column");
    const std::int64_t vec = p_.size.n % 2 == 0 ? 2 : 1;
    Block body = store(out_.accumulators, accumulator(at), 2, vec, row, column);
    body.insert(body.begin(), Let{column, var(out_.n0) + first_column() + var(at.j) * 8});
    body = block(loop(at.j, s_.wn / 8, LoopKind::kUnrolled, std::move(body)));
    if (p_.size.m % s_.bm != 0) body = block(If{lt(var(row), integer(p_.size.m)), std::move(body), {}});
    body.insert(body.begin(), Let{row, var(out_.m0) + first_row() + var(at.i) * 16 + var(at.half) * 8});
    body = block(loop(at.half, 2, LoopKind::kUnrolled, std::move(body)));
    return block(loop(at.i, s_.wm / 16, LoopKind::kUnrolled, std::move(body)));
  }

  Block staged() {
    Block result = to_shared();
    result.push_back(Barrier{});
    for (Stmt& stmt : from_shared()) result.push_back(std::move(stmt));
    return result;
  }

 private:
  /// Loop variables of a pair of columns.
  struct Pair {
    VarId i, j, half;
  };
  Pair pair() { return {b_.var("i"), b_.var("j"), b_.var("half")}; }
  Expr accumulator(const Pair& at) const {
    return (var(at.i) * (s_.wn / 8) + var(at.j)) * 4 + var(at.half) * 2;
  }
  /// Of this lane's first pair, in the block tile.
  Expr first_row() const { return var(out_.warp_m) * s_.wm + var(out_.lane) / 4; }
  Expr first_column() const { return var(out_.warp_n) * s_.wn + var(out_.lane) % 4 * 2; }

  Block to_shared() {
    const std::int64_t stride = gemm_mma_c_stride(s_);
    const Pair at = pair();
    const VarId mine = b_.var("c_place");
    Expr place = first_row() * stride + first_column();
    if (s_.k_warps > 1) place = var(out_.k_group) * (s_.bm * stride) + std::move(place);
    Block body =
        block(Store{out_.tile, var(mine) + (var(at.i) * 16 + var(at.half) * 8) * stride + var(at.j) * 8,
                    load(out_.accumulators, accumulator(at), 2), 2, std::nullopt});
    body = block(loop(at.half, 2, LoopKind::kUnrolled, std::move(body)));
    body = block(loop(at.j, s_.wn / 8, LoopKind::kUnrolled, std::move(body)));
    return block(Let{mine, std::move(place)}, loop(at.i, s_.wm / 16, LoopKind::kUnrolled, std::move(body)));
  }

  /// The threads take the vectors of the tile row by row.
  Block from_shared() {
    const std::int64_t stride = gemm_mma_c_stride(s_);
    const std::int64_t vec = gemm_mma_c_vector(p_, s_);
    const int lanes = static_cast<int>(vec);
    const std::int64_t per_row = s_.bn / vec;
    const VarId copy = b_.var("copy_c");
    const VarId vector = b_.var("vector");
    const VarId row = b_.var("row");
    const VarId column = b_.var("column");
    const Expr row_in = var(vector) / per_row;
    const Expr column_in = var(vector) % per_row * vec;
    const Expr place = row_in * stride + column_in;
    Block body = block(Store{out_.sum, integer(0), load(out_.tile, place, lanes), lanes, std::nullopt});
    if (s_.k_warps > 1) {
      const VarId part = b_.var("from_part");
      const VarId e = b_.var("e");
      const Expr total = load(out_.sum, var(e)) + load(out_.part, var(e));
      body.push_back(loop(
          part, s_.k_warps - 1, LoopKind::kUnrolled,
          block(
              Store{out_.part, integer(0), load(out_.tile, (var(part) + 1) * (s_.bm * stride) + place, lanes),
                    lanes, std::nullopt},
              loop(e, vec, LoopKind::kUnrolled, block(Store{out_.sum, var(e), total, 1, std::nullopt})))));
    }
    for (Stmt& stmt : store(out_.sum, integer(0), vec, vec, row, column)) body.push_back(std::move(stmt));
    if (p_.size.m % s_.bm != 0) body = block(If{lt(var(row), integer(p_.size.m)), std::move(body), {}});
    body.insert(body.begin(), Let{column, var(out_.n0) + column_in});
    body.insert(body.begin(), Let{row, var(out_.m0) + row_in});
    body.insert(body.begin(), Let{vector, var(copy) * s_.threads() + var(out_.thread)});
    return block(loop(copy, s_.bm * per_row / s_.threads(), LoopKind::kUnrolled, std::move(body)));
  }

  /// `count` neighbouring columns, from `from` on in registers, to (row, column) of C, `vec` at a time. n is
  /// a multiple of vec: all of a vector is inside or nothing.
  Block store(BufferId from, const Expr& first, std::int64_t count, std::int64_t vec, VarId row,
              VarId column) {
    const int lanes = static_cast<int>(vec);
    const VarId v = b_.var("v");
    const Expr place = first + var(v) * vec;
    const Expr to = var(column) + var(v) * vec;
    const Expr index = out_.base + var(row) * p_.size.n + to;
    Block body;
    if (p_.output == p_.accum) {
      body = block(Store{out_.c, index, load(from, place, lanes), lanes, std::nullopt});
    } else {
      const VarId e = b_.var("e");
      body = block(loop(e, vec, LoopKind::kUnrolled,
                        block(Store{out_.converted, var(e), cast(p_.output, load(from, place + var(e))), 1,
                                    std::nullopt})),
                   Store{out_.c, index, load(out_.converted, integer(0), lanes), lanes, std::nullopt});
    }
    if (p_.size.n % s_.bn != 0) body = block(If{lt(to, integer(p_.size.n)), std::move(body), {}});
    return block(loop(v, count / vec, LoopKind::kUnrolled, std::move(body)));
  }

  KernelBuilder& b_;
  const GemmMmaProblem& p_;
  const GemmMmaSchedule& s_;
  const GemmMmaOutput& out_;
};

}  // namespace

Block gemm_mma_write(KernelBuilder& builder, const GemmMmaProblem& p, const GemmMmaSchedule& s,
                     const GemmMmaOutput& out) {
  Block result;
  if (s.staged()) result = block(Alloc{out.tile}, Alloc{out.sum});
  if (s.k_warps > 1) result.push_back(Alloc{out.part});
  if (p.output != p.accum) result.push_back(Alloc{out.converted});
  Writer writer(builder, p, s, out);
  for (Stmt& stmt : s.staged() ? writer.staged() : writer.direct()) result.push_back(std::move(stmt));
  return result;
}

}  // namespace lehr
