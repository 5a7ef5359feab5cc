// The fragments are those of gemm_wgmma_write.cpp. The swizzle is that of the tensor map: 16-byte chunk c in
// row r of a box lies at chunk c ^ r % 8 for rows of 128 bytes, c ^ r / 2 % 4 for 64, and c ^ r / 4 % 2 for
// 32 (CUDA Driver API, CUtensorMapSwizzle). Eight rows of a warp's store thus fall into different banks.
#include "templates/gemm/cuda/gemm_wgmma_store.h"

#include <utility>

#include "templates/gemm/cuda/gemm_wgmma_copy.h"

namespace lehr {

using namespace ir;

namespace {

/// Returns `body`, executed by one thread of the consumer. It is always the same thread, which issues,
/// commits and waits.
Block lead(KernelBuilder& b, const GemmWgmmaSchedule& s, const GemmWgmmaOutput& out, Block body) {
  return gemm_wgmma_by_one(b, eq(var(out.thread) / 32 % 4, integer(0)), s.consumers, body);
}
Stmt named_barrier(const GemmWgmmaOutput& out) {
  return Intrinsic{"named_barrier", {}, {var(out.consumer) + 1}, 0};
}
/// Waits until at most `pending` groups of the thread's stores still read shared memory.
Stmt wait_for_stores(std::int64_t pending) {
  return Intrinsic{"tma_store_wait", {}, {integer(pending)}, 0};
}

/// Stores one consumer's part of one tile.
class Part {
 public:
  Part(KernelBuilder& builder, const GemmWgmmaProblem& problem, const GemmWgmmaSchedule& schedule,
       const GemmWgmmaOutput& output, BufferId tile)
      : b_(builder),
        p_(problem),
        s_(schedule),
        out_(output),
        tile_(tile),
        stage_(gemm_wgmma_stage(problem, schedule)),
        by_matrix_(schedule.stmatrix == 1),
        chunk_(16 / size_of(problem.output)),
        chunks_(stage_.box_columns / chunk_),
        sums_(by_matrix_ ? 16 : 8),
        columns_(problem.size.gated ? sums_ / 2 : sums_),
        first_(builder.var("first")),
        swizzle_(builder.var("swizzle")),
        part_(var(output.consumer) * stage_.part_elements()) {}

  /// Writes the whole part to shared memory, and then stores it.
  Block at_once(bool reused, const Expr& matrix) {
    Block result;
    if (reused) append(result, wait(0));
    append(result, names());
    append(result, fill(integer(0), stage_.boxes, integer(0)));
    const Unrolled box(b_, "c_box", stage_.boxes);
    append(result, send(box.over(block(store(box.at, box.at, matrix)))));
    return result;
  }

  /// Writes and stores box by box. Each box replaces the last box but one in shared memory.
  Block in_turn(bool reused, const Expr& matrix) {
    Block result = names();
    const auto boxes = [&](std::int64_t from, std::int64_t to, bool waits) {
      const Unrolled number(b_, "c_box", to - from);
      const Expr box = number.at + from;
      const Expr place = box % stage_.room;
      Block body;
      if (waits) body = wait(1);
      append(body, fill(box, 1, place));
      append(body, send(block(store(box, place, matrix))));
      append(result, number.over(body));
    };
    if (!reused) {
      boxes(0, stage_.room, false);
      boxes(stage_.room, stage_.boxes, true);
      return result;
    }
    // If the number of boxes is odd, the previous tile's last box is where the first one goes.
    if (stage_.boxes % stage_.room != 0) append(result, lead(b_, s_, out_, block(wait_for_stores(0))));
    boxes(0, stage_.boxes, true);
    return result;
  }

 private:
  /// Waits until the pending stores have read the memory that is written next.
  Block wait(std::int64_t pending) {
    Block result = lead(b_, s_, out_, block(wait_for_stores(pending)));
    result.push_back(named_barrier(out_));
    return result;
  }

  Expr warp_row() const { return var(out_.thread) / 32 % 4 * 16; }
  /// Returns the first of the thread's two columns in a group of eight. The thread holds two neighbouring
  /// sums per row and group.
  Expr in_group() const { return var(out_.lane) % 4 * (p_.size.gated ? 1 : 2); }

  /// Defines the components of an element's position that depend on the thread alone, so that the other
  /// components are constants: row % 8 is lane / 4. stmatrix stores four matrices of 8 x 8: of two groups of
  /// columns, rows 0 to 7 and rows 8 to 15. Lane l gives the address of row l % 8 of matrix l / 8.
  Block names() {
    Block result;
    if (by_matrix_) {
      const Expr row_of_lane = warp_row() + var(out_.lane) % 16;
      result.push_back(Let{first_, part_ + row_of_lane * stage_.box_columns});
      result.push_back(
          Let{swizzle_, bit_xor(var(out_.lane) / 16, var(out_.lane) % 8 / (8 / chunks_) % chunks_)});
    } else {
      const Expr row = warp_row() + var(out_.lane) / 4;
      result.push_back(Let{first_, part_ + row * stage_.box_columns + in_group() % chunk_});
      result.push_back(
          Let{swizzle_, bit_xor(in_group() / chunk_, var(out_.lane) / 4 / (8 / chunks_) % chunks_)});
    }
    if (p_.output != p_.accum) result.push_back(Alloc{out_.converted});
    return result;
  }

  /// Writes `boxes` boxes, from `first_box` on, from registers to shared memory from `place` on.
  Block fill(const Expr& first_box, std::int64_t boxes, const Expr& place) {
    const std::int64_t steps = stage_.box_columns / columns_;  // number of steps in a box
    const Unrolled i(b_, "i", stage_.rows / 64), j(b_, "j", boxes * steps);
    const Unrolled half(b_, by_matrix_ ? StaticText("matrix") : "half", by_matrix_ ? 4 : 2);
    const Expr step = first_box * steps + j.at;  // number of the step in the tile
    const Expr group = by_matrix_ ? step * 2 + half.at / 2 : step;
    const Expr lower = by_matrix_ ? half.at % 2 : half.at;
    const Expr sum = i.at * (s_.bn / 2) + group * 4 + lower * 2;
    const Expr row_of_step = by_matrix_ ? i.at * 64 : i.at * 64 + half.at * 8;
    const Expr column = j.at * columns_;
    const Expr chunk = columns_ < chunk_ ? column / chunk_ : j.at * (columns_ / chunk_);
    const Expr chunk_of_box = bit_xor(chunk % chunks_, var(swizzle_));
    const Expr box = boxes == 1 ? place : place + column / stage_.box_columns;
    Expr index =
        var(first_) + row_of_step * stage_.box_columns + box * stage_.box_elements() + chunk_of_box * chunk_;
    if (columns_ < chunk_) index = index + column % chunk_;
    Block body = finish(sum, i.at * 64 + lower * 8, group * 8);
    append(body, to_shared(sum, by_matrix_ ? half.at * 2 : integer(0), index));
    if (by_matrix_) {
      body = half.over(body);
      body.push_back(Intrinsic{
          "stmatrix_x4", {Touch{tile_, index, 8, true}, Touch{out_.converted, integer(0), 8, false}}, {}, 0});
      body = j.over(body);
    } else {
      body = half.over(j.over(body));
    }
    return i.over(body);
  }

  Expr first_row() const {
    return var(out_.row0) + (s_.ping_pong == 1 ? integer(0) : var(out_.consumer) * s_.consumer_rows());
  }

  /// Applies the epilogue to the pair of sums from `sum` on. The pair is `rows` rows and `columns` columns
  /// away from the thread's first one.
  Block finish(const Expr& sum, const Expr& rows, const Expr& columns) {
    if (out_.epilogue.empty()) return {};
    // The epilogue's operands exist only inside C. Either both columns of the pair are inside or neither is.
    const VarId row = b_.var("row");
    const VarId column = b_.var("column");
    Block result = gemm_wgmma_epilogue(b_, p_, s_, out_, sum, var(row), var(column), 2);
    if (!result.empty()) {
      const bool whole_rows = p_.size.m % s_.bm == 0, whole_columns = p_.size.n % s_.bn == 0;
      if (!whole_columns) result = block(If{lt(var(column), integer(p_.size.n)), result, {}});
      if (!whole_rows) result = block(If{lt(var(row), integer(p_.size.m)), result, {}});
      result.push_front(Let{column, var(out_.column0) + var(out_.lane) % 4 * 2 + columns});
      result.push_front(Let{row, first_row() + (warp_row() + var(out_.lane) / 4) + rows});
    }
    if (p_.size.gated) append(result, out_.epilogue.gate_in_place(b_, out_.accumulators, sum, 1));
    return result;
  }

  /// Writes the finished pair of sums to `index` of the tile; for stmatrix, to `registers`.
  Block to_shared(const Expr& sum, const Expr& registers, const Expr& index) {
    const int lanes = p_.size.gated ? 1 : 2;
    if (p_.output == p_.accum)
      return block(Store{tile_, index, load(out_.accumulators, sum, lanes), lanes, std::nullopt});
    const Unrolled e(b_, "e", lanes);
    const Expr to = by_matrix_ ? registers + e.at : e.at;
    Block result = e.over(block(
        Store{out_.converted, to, cast(p_.output, load(out_.accumulators, sum + e.at)), 1, std::nullopt}));
    if (!by_matrix_)
      result.push_back(Store{tile_, index, load(out_.converted, integer(0), lanes), lanes, std::nullopt});
    return result;
  }

  Stmt store(const Expr& box, const Expr& place, const Expr& matrix) const {
    const std::int64_t columns = p_.size.output_columns();
    const Expr column0 = p_.size.gated ? var(out_.column0) / 2 : var(out_.column0);
    const Expr first_column = column0 + box * stage_.box_columns;
    Intrinsic store;
    store.name = p_.size.batch > 1 ? StaticText("tma_store_3d") : "tma_store_2d";
    const bool partial = p_.size.m % s_.bm != 0 || p_.size.n % s_.bn != 0;
    store.touches = {Touch{tile_, part_ + place * stage_.box_elements(), stage_.box_elements(), false},
                     Touch{out_.c, out_.base + first_row() * columns + first_column, stage_.box_elements(),
                           true, stage_.rows, columns, partial}};
    store.args = {first_column, first_row()};
    if (p_.size.batch > 1) store.args.push_back(matrix);
    return store;
  }

  /// Executes `stores`, which read what all threads of the consumer have written.
  Block send(Block stores) {
    stores.push_back(Intrinsic{"tma_store_commit", {}, {}, 0});
    Block result = block(Intrinsic{"async_proxy_fence", {}, {}, 0}, named_barrier(out_));
    append(result, lead(b_, s_, out_, stores));
    return result;
  }

  KernelBuilder& b_;
  const GemmWgmmaProblem& p_;
  const GemmWgmmaSchedule& s_;
  const GemmWgmmaOutput& out_;
  BufferId tile_;
  GemmWgmmaStage stage_;
  bool by_matrix_;
  std::int64_t chunk_;    ///< elements in 16 bytes
  std::int64_t chunks_;   ///< chunks in a row of a box
  std::int64_t sums_;     ///< columns of sums in one step
  std::int64_t columns_;  ///< columns of C in one step
  VarId first_, swizzle_;
  Expr part_;  ///< first element of the consumer's part
};

}  // namespace

TensorMap gemm_wgmma_store_map(const GemmWgmmaProblem& p, const GemmWgmmaSchedule& s) {
  const GemmWgmmaStage stage = gemm_wgmma_stage(p, s);
  const bool batched = p.size.batch > 1;
  const std::int64_t columns = p.size.output_columns();
  TensorMap map;
  map.rank = batched ? 3 : 2;
  map.dims = {columns, p.size.m, batched ? p.size.batch : 0};
  map.strides = {1, columns, batched ? p.size.m * columns : 0};
  map.box = {stage.box_columns, stage.rows, batched ? 1 : 0};
  map.swizzle = stage.span;
  return map;
}

Block gemm_wgmma_store(KernelBuilder& b, const GemmWgmmaProblem& p, const GemmWgmmaSchedule& s,
                       const GemmWgmmaOutput& out, BufferId tile, bool reused, const Expr& matrix) {
  Part part(b, p, s, out, tile);
  if (s.store == 2) return part.in_turn(reused, matrix);
  Block result;
  if (s.store == 3)  // the products of all consumers have read the stages
    result.push_back(
        Intrinsic{"named_barrier", {}, {integer(s.consumers + 1), integer(128 * s.consumers)}, 0});
  append(result, part.at_once(reused, matrix));
  return result;
}

Block gemm_wgmma_store_end(KernelBuilder& b, const GemmWgmmaSchedule& s, const GemmWgmmaOutput& out) {
  return lead(b, s, out, block(wait_for_stores(0)));
}

}  // namespace lehr
