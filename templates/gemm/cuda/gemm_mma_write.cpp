// The layout of the accumulators is that of PTX ISA 9.0, "Matrix Fragments for mma.m16n8k16": lane l holds
// columns 2 (l % 4) and 2 (l % 4) + 1 of rows l / 4 and l / 4 + 8.
#include "templates/gemm/cuda/gemm_mma_write.h"

#include <utility>
#include <vector>

#include "base/ceil_div.h"

namespace lehr {
namespace {

using namespace ir;

class Writer {
 public:
  Writer(KernelBuilder& builder, const GemmMmaProblem& problem, const GemmMmaSchedule& schedule,
         const GemmMmaOutput& output)
      : b_(builder), p_(problem), s_(schedule), out_(output) {}

  /// Writes C from registers: each lane writes its pairs of columns.
  Block direct() {
    Block result = pairs_to_c();
    return split() ? exchange(out_.accumulators, result) : result;
  }

  Block staged() {
    Block result = to_shared();
    result.push_back(Barrier{});
    append(result, from_shared());
    return result;
  }

 private:
  /// The loops over a lane's pairs of columns.
  struct Pair {
    Unrolled i, j, half;
  };
  Pair pair() {
    return {Unrolled(b_, "i", s_.wm / 16), Unrolled(b_, "j", s_.wn / 8), Unrolled(b_, "half", 2)};
  }
  bool split() const { return s_.split_k > 1; }
  Block exchange(BufferId sums, Block then) { return split_k_sum(b_, out_.sums, out_.place, sums, then); }
  Expr accumulator(const Pair& at) const { return (at.i.at * (s_.wn / 8) + at.j.at) * 4 + at.half.at * 2; }
  /// Return the row and the column of this lane's first pair in the block tile.
  Expr first_row() const { return var(out_.warp_m) * s_.wm + var(out_.lane) / 4; }
  Expr first_column() const { return var(out_.warp_n) * s_.wn + var(out_.lane) % 4 * 2; }

  Block pairs_to_c() {
    const Pair at = pair();
    const VarId row = b_.var("row");
    const VarId column = b_.var("column");
    const std::int64_t vec = p_.size.n % 2 == 0 ? 2 : 1;
    Block body = store(out_.accumulators, accumulator(at), 2, vec, row, column);
    body.push_front(Let{column, var(out_.n0) + first_column() + at.j.at * 8});
    body = at.j.over(body);
    if (p_.size.m % s_.bm != 0) body = block(If{lt(var(row), integer(p_.size.m)), body, {}});
    body.push_front(Let{row, var(out_.m0) + first_row() + at.i.at * 16 + at.half.at * 8});
    return at.i.over(at.half.over(body));
  }

  Block to_shared() {
    const std::int64_t stride = gemm_mma_c_stride(s_);
    const Pair at = pair();
    const VarId mine = b_.var("c_place");
    Expr place = first_row() * stride + first_column();
    if (s_.k_warps > 1) place = var(out_.k_group) * (s_.bm * stride) + place;
    Block body = block(Store{out_.tile, var(mine) + (at.i.at * 16 + at.half.at * 8) * stride + at.j.at * 8,
                             load(out_.accumulators, accumulator(at), 2), 2, std::nullopt});
    Block result = block(Let{mine, place});
    append(result, at.i.over(at.j.over(at.half.over(body))));
    return result;
  }

  /// Returns one body for each vector of the tile that the thread handles. The threads take the vectors in
  /// row-major order, of every row or of every `rows`-th row.
  template <typename Body>
  Block each_vector(const Body& body, std::int64_t rows = 1) {
    const std::int64_t vec = gemm_mma_c_vector(p_, s_), count = s_.bm / rows * s_.bn / vec;
    const Unrolled copy(b_, "copy_c", ceil_div(count, s_.threads()));
    const VarId vector = b_.var("vector");
    Block inner = body(copy.at, var(vector) / (s_.bn / vec), var(vector) % (s_.bn / vec) * vec);
    if (count % s_.threads() != 0) inner = block(If{lt(var(vector), integer(count)), inner, {}});
    inner.push_front(Let{vector, copy.at * s_.threads() + var(out_.thread)});
    return copy.over(inner);
  }

  Block from_shared() {
    if (p_.window_pixels() > 1) return windows_from_shared();
    if (!split()) {
      return each_vector([&](const Expr&, const Expr& row, const Expr& column) {
        return guarded(row, column, integer(0), add_parts(row, column, integer(0)));
      });
    }
    const std::int64_t vec = gemm_mma_c_vector(p_, s_);
    Block result = each_vector([&](const Expr& copy, const Expr& row, const Expr& column) {
      return add_parts(row, column, copy * vec);
    });
    append(result, exchange(out_.sum, each_vector([&](const Expr& copy, const Expr& row, const Expr& column) {
                              return guarded(row, column, copy * vec, {});
                            })));
    return result;
  }

  /// Pools windows, whose rows are neighbours in the tile: a thread reads a vector of each row.
  Block windows_from_shared() {
    const std::int64_t pixels = p_.window_pixels(), vec = gemm_mma_c_vector(p_, s_);
    const int lanes = static_cast<int>(vec);
    return each_vector(
        [&](const Expr&, const Expr& window, const Expr& column_in) {
          const VarId row = b_.var("row"), column = b_.var("column");
          const Unrolled e(b_, "e", vec);
          Block pool;
          std::vector<Expr> values;
          for (std::int64_t i = 0; i < pixels; ++i) {
            append(pool, add_parts(window * pixels + i, column_in, integer(i * vec)));
            append(pool, out_.epilogue.in_place(b_, out_.sum, integer(i * vec),
                                                {.channel = out_.first_channel + var(column),
                                                 .along_channels = true,
                                                 .lanes = lanes}));
            values.push_back(load(out_.sum, e.at + i * vec));
          }
          append(pool, e.over(block(Store{out_.sum, e.at, out_.epilogue.pool(std::move(values), 1), 1,
                                          std::nullopt})));
          append(pool, put(out_.sum, integer(0), vec, out_.base + var(row) * out_.row + var(column)));
          if (p_.size.n % s_.bn != 0) pool = block(If{lt(var(column), integer(p_.size.n)), pool, {}});
          if (p_.size.m % s_.bm != 0) pool = block(If{lt(var(row), integer(p_.size.m / pixels)), pool, {}});
          pool.push_front(Let{column, var(out_.n0) + column_in});
          pool.push_front(Let{row, var(out_.m0) / pixels + window});
          return pool;
        },
        pixels);
  }

  /// Adds up a vector of the tile over the warps that split k. The sums go to registers, from `to` on.
  Block add_parts(const Expr& row, const Expr& column, const Expr& to) {
    const std::int64_t stride = gemm_mma_c_stride(s_);
    const std::int64_t vec = gemm_mma_c_vector(p_, s_);
    const int lanes = static_cast<int>(vec);
    const Expr place = row * stride + column;
    Block body = block(Store{out_.sum, to, load(out_.tile, place, lanes), lanes, std::nullopt});
    if (s_.k_warps == 1) return body;
    const Unrolled part(b_, "from_part", s_.k_warps - 1);
    const Unrolled e(b_, "e", vec);
    const Expr total = load(out_.sum, to + e.at) + load(out_.part, e.at);
    Block add =
        block(Store{out_.part, integer(0), load(out_.tile, (part.at + 1) * (s_.bm * stride) + place, lanes),
                    lanes, std::nullopt});
    append(add, e.over(block(Store{out_.sum, to + e.at, total, 1, std::nullopt})));
    append(body, part.over(add));
    return body;
  }

  /// Returns `before`, then a store of the registers from `from` on to element (row, column) of the tile in
  /// C. Both are executed only if the element lies inside C.
  Block guarded(const Expr& row_in, const Expr& column_in, const Expr& from, Block before) {
    const VarId row = b_.var("row");
    const VarId column = b_.var("column");
    const std::int64_t vec = gemm_mma_c_vector(p_, s_);
    Block body = before;
    append(body, store(out_.sum, from, vec, vec, row, column));
    if (p_.size.m % s_.bm != 0) body = block(If{lt(var(row), integer(p_.size.m)), body, {}});
    body.push_front(Let{column, var(out_.n0) + column_in});
    body.push_front(Let{row, var(out_.m0) + row_in});
    return body;
  }

  /// Stores `count` registers, from `first` on, to neighbouring columns of C from (row, column) on, `vec` at
  /// a time. n is a multiple of vec, so a vector lies entirely inside C or entirely outside.
  Block store(BufferId from, const Expr& first, std::int64_t count, std::int64_t vec, VarId row,
              VarId column) {
    const int lanes = static_cast<int>(vec);
    const Unrolled v(b_, "v", count / vec);
    const Expr place = first + v.at * vec;
    const Expr to = var(column) + v.at * vec;
    const bool gated = p_.size.gated;
    const Expr index = out_.base + var(row) * out_.row + (gated ? to / 2 : to);
    Block body = out_.epilogue.in_place(b_, from, place,
                                        {out_.first_channel + (out_.channels_are_columns ? to : var(row)),
                                         out_.channels_are_columns, index, lanes, std::nullopt});
    if (gated) append(body, out_.epilogue.gate_in_place(b_, from, place, vec / 2));
    append(body, put(from, place, gated ? vec / 2 : vec, index));
    if (p_.size.n % s_.bn != 0) body = block(If{lt(to, integer(p_.size.n)), body, {}});
    return v.over(body);
  }

  /// Converts `count` registers, from `place` on, to C's type and stores them to C.
  Block put(BufferId from, const Expr& place, std::int64_t count, const Expr& index) {
    const int lanes = static_cast<int>(count);
    if (p_.output == p_.accum)
      return block(Store{out_.c, index, load(from, place, lanes), lanes, std::nullopt});
    const Unrolled e(b_, "e", count);
    Block result = e.over(
        block(Store{out_.converted, e.at, cast(p_.output, load(from, place + e.at)), 1, std::nullopt}));
    result.push_back(Store{out_.c, index, load(out_.converted, integer(0), lanes), lanes, std::nullopt});
    return result;
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
  append(result, s.staged() ? writer.staged() : writer.direct());
  return result;
}

}  // namespace lehr
