// Each thread of a block reads its part of the matrix with many loads in flight, and keeps the sums of its
// outputs in registers. The lanes of a warp add up their sums by shuffles, the warps through shared memory.
#include "templates/gemm/cuda/gemv_simt.h"

#include <algorithm>
#include <utility>

#include "base/ceil_div.h"
#include "templates/family.h"
#include "templates/gemm/cuda/gemv_simt_space.h"
#include "templates/shared/epilogue_expr.h"

namespace lehr {
namespace {

using namespace ir;

/// Returns the length of the longest vector that divides `count` elements and is aligned in every row of
/// `extent` elements. It is at most `most`, a power of two.
std::int64_t aligned_vector(std::int64_t most, std::int64_t count, std::int64_t extent) {
  while (count % most != 0 || extent % most != 0) most /= 2;
  return most;
}

/// Converts an element of `type` to f32.
Expr in_f32(DType type, Expr value) {
  return type == DType::kF32 ? value : cast(DType::kF32, value);
}

class Lowering {
 public:
  Lowering(const Workload& workload, const GemvSchedule& schedule)
      : p_(gemv_problem(workload)), s_(schedule), shape_(gemv_shape(p_, s_)) {
    builder_.kernel.name = "gemv_simt";
    builder_.kernel.target = Target::kCuda;
    builder_.kernel.min_blocks_per_core = static_cast<int>(s_.min_blocks);
    const auto input = [&](const char* name, bool is_matrix) {
      (is_matrix ? matrix_ : vectors_) = builder_.param(
          name, p_.type, p_.batch * p_.k * (is_matrix ? p_.outputs : p_.vectors), Direction::kIn);
    };
    input("a", p_.matrix_is_a);
    input("b", !p_.matrix_is_a);
    c_ = builder_.param("c", p_.c_type, p_.batch * p_.vectors * p_.outputs, Direction::kOut);
    epilogue_ = FusedEpilogue(builder_, workload);
    block_ = builder_.var("block");
    batch_ = builder_.var("batch");
    thread_ = builder_.var("thread");
    first_ = builder_.var("first");
    slice_ = builder_.var("slice");
    place_ = builder_.var("place");
    acc_ = builder_.buffer("acc", DType::kF32, Scope::kRegister, accumulators());
    matrix_part_ = builder_.buffer("matrix_part", p_.type, Scope::kRegister, s_.unroll * s_.each * s_.vec);
    vector_part_ = builder_.buffer("vector_part", p_.type, Scope::kRegister, p_.vectors * shape_.chunk);
    if (s_.warps_k > 1) {
      partial_ = builder_.buffer("partial", DType::kF32, Scope::kShared, s_.warps_k * block_results());
      sum_ = builder_.buffer("sum", DType::kF32, Scope::kRegister, 1);
    }
  }

  Kernel kernel() {
    const Expr warp = var(thread_) / 32;
    const Expr lane = var(thread_) % 32;
    Block body = block(Let{first_, var(block_) * shape_.outputs_per_block},
                       Let{slice_, warp % s_.warps_k * s_.lanes_k + lane % s_.lanes_k},
                       Let{place_, warp / s_.warps_k * s_.lanes_o() + lane / s_.lanes_k}, Alloc{acc_},
                       Alloc{matrix_part_}, Alloc{vector_part_});
    const VarId i = builder_.var("i");
    body.push_back(loop(i, accumulators(), LoopKind::kUnrolled,
                        block(Store{acc_, var(i), zero(DType::kF32), 1, std::nullopt})));
    append(body, over_k());
    append(body, reduce_lanes());
    append(body, s_.warps_k > 1 ? reduce_warps() : write_own());
    Block grid = block(loop(thread_, s_.threads(), LoopKind::kThreadX, body));
    grid = block(loop(block_, ceil_div(p_.outputs, shape_.outputs_per_block), LoopKind::kBlockX, grid));
    if (p_.batch > 1) grid = block(loop(batch_, p_.batch, LoopKind::kBlockZ, grid));
    builder_.kernel.body = grid;
    return std::move(builder_.kernel);
  }

 private:
  std::int64_t accumulators() const { return p_.vectors * shape_.outputs_per_thread; }
  std::int64_t block_results() const { return p_.vectors * shape_.outputs_per_block; }
  bool outputs_are_whole() const { return p_.outputs % shape_.outputs_per_block == 0; }
  Expr first_of(std::int64_t elements) const { return p_.batch > 1 ? var(batch_) * elements : integer(0); }

  /// Returns the first output of this thread's load `t` (of `outputs_per_load` outputs), counted from the
  /// block's first output.
  Expr output_in_block(const Expr& t) const {
    return (var(place_) + t * (s_.lanes_o() * s_.warps_o)) * shape_.outputs_per_load;
  }

  // ---- the loop over k ----

  /// Walks over whole steps without bounds checks, and then over the rest of k, whose loads are distributed
  /// over all slices, too.
  Block over_k() {
    const std::int64_t steps = p_.k / shape_.k_per_step;
    Block result;
    if (steps > 0) {
      const VarId step = builder_.var("step");
      result.push_back(loop(step, steps, LoopKind::kSerial, whole_step(var(step))));
    }
    const std::int64_t done = steps * shape_.k_per_step;
    const std::int64_t per_round = s_.slices() * shape_.k_per_load;
    if (done == p_.k) return result;
    const VarId round = builder_.var("round");
    const VarId k = builder_.var("k");
    const std::int64_t chunk = shape_.k_per_load;
    Block load = load_matrix(var(k), integer(0));
    append(load, load_vectors(var(k), chunk));
    append(load, multiply_add(integer(0), integer(0), chunk));
    Block body = block(Let{k, (var(round) * s_.slices() + var(slice_)) * chunk + done});
    if ((p_.k - done) % per_round == 0) {
      append(body, load);
    } else {
      body.push_back(If{lt(var(k), integer(p_.k)), load, {}});
    }
    result.push_back(loop(round, ceil_div(p_.k - done, per_round), LoopKind::kUnrolled, body));
    return result;
  }

  /// Issues `unroll` loads of the matrix first, so that all of them are in flight. If the matrix is
  /// contiguous along k, slices read neighbouring vectors. Otherwise each slice reads `unroll` consecutive k,
  /// so that it can load the vectors' elements for them at once.
  Block whole_step(const Expr& step) {
    const VarId u = builder_.var("u");
    const VarId k = builder_.var("k");
    Block result;
    if (p_.matrix_along_k) {
      const Expr at = ((step * s_.unroll + var(u)) * s_.slices() + var(slice_)) * s_.vec;
      result.push_back(loop(u, s_.unroll, LoopKind::kUnrolled, load_matrix(at, var(u))));
      Block use = load_vectors(at, s_.vec);
      append(use, multiply_add(var(u), integer(0), s_.vec));
      result.push_back(loop(u, s_.unroll, LoopKind::kUnrolled, use));
      return result;
    }
    result.push_back(Let{k, (step * s_.slices() + var(slice_)) * s_.unroll});
    result.push_back(loop(u, s_.unroll, LoopKind::kUnrolled, load_matrix(var(k) + var(u), var(u))));
    append(result, load_vectors(var(k), s_.unroll));
    result.push_back(loop(u, s_.unroll, LoopKind::kUnrolled, multiply_add(var(u), var(u), s_.unroll)));
    return result;
  }

  /// Issues `each` loads of the matrix at k, into registers number `slot`. Loads of outputs after the last
  /// one read elements of the last one instead, so that no load needs a bounds check; these outputs are not
  /// stored.
  Block load_matrix(const Expr& k, const Expr& slot) {
    const VarId t = builder_.var("t");
    Expr output = var(first_) + output_in_block(var(t));
    if (!outputs_are_whole()) output = min(output, integer(p_.outputs - shape_.outputs_per_load));
    const Expr base = first_of(p_.outputs * p_.k);
    Expr index = p_.matrix_along_k ? base + output * p_.k + k : base + k * p_.outputs + output;
    return block(loop(t, s_.each, LoopKind::kUnrolled,
                      block(Store{matrix_part_, (slot * s_.each + var(t)) * s_.vec,
                                  load(matrix_, index, static_cast<int>(s_.vec)), static_cast<int>(s_.vec),
                                  std::nullopt})));
  }

  /// Loads elements k .. k + count - 1 of every vector.
  Block load_vectors(const Expr& k, std::int64_t count) {
    const VarId i = builder_.var("i");
    const VarId q = builder_.var("q");
    const Expr base = first_of(p_.vectors * p_.k);
    const std::int64_t most = 16 / size_of(p_.type);
    const std::int64_t vec =
        p_.vectors_along_k ? aligned_vector(most, count, p_.k) : aligned_vector(most, p_.vectors, p_.vectors);
    const auto move = [&](Expr to, Expr from) {
      return block(Store{vector_part_, to, load(vectors_, from, static_cast<int>(vec)), static_cast<int>(vec),
                         std::nullopt});
    };
    if (p_.vectors_along_k) {
      Block parts = move(var(i) * count + var(q) * vec, base + var(i) * p_.k + k + var(q) * vec);
      parts = block(loop(q, count / vec, LoopKind::kUnrolled, parts));
      return block(loop(i, p_.vectors, LoopKind::kUnrolled, parts));
    }
    Block parts = move(var(q) * p_.vectors + var(i) * vec, base + (k + var(q)) * p_.vectors + var(i) * vec);
    parts = block(loop(i, p_.vectors / vec, LoopKind::kUnrolled, parts));
    return block(loop(q, count, LoopKind::kUnrolled, parts));
  }

  /// Adds the products of the load at `slot` to the sums. The vectors' registers hold `count` elements per
  /// vector; `first` is the one that belongs to the load's first k.
  Block multiply_add(const Expr& slot, const Expr& first, std::int64_t count) {
    const VarId i = builder_.var("i");
    const VarId t = builder_.var("t");
    const VarId e = builder_.var("e");
    const Expr q = p_.matrix_along_k ? first + var(e) : first;
    const Expr x = p_.vectors_along_k ? var(i) * count + q : q * p_.vectors + var(i);
    const Expr place =
        p_.matrix_along_k ? var(i) * s_.each + var(t) : (var(i) * s_.each + var(t)) * s_.vec + var(e);
    Expr sum = fma(in_f32(p_.type, load(vector_part_, x)),
                   in_f32(p_.type, load(matrix_part_, (slot * s_.each + var(t)) * s_.vec + var(e))),
                   load(acc_, place));
    Block body = block(Store{acc_, place, sum, 1, std::nullopt});
    body = block(loop(e, s_.vec, LoopKind::kUnrolled, body));
    body = block(loop(t, s_.each, LoopKind::kUnrolled, body));
    return block(loop(i, p_.vectors, LoopKind::kUnrolled, body));
  }

  // ---- the sums ----

  Block reduce_lanes() {
    if (s_.lanes_k == 1) return {};
    const VarId i = builder_.var("i");
    Intrinsic sum;
    sum.name = "warp_sum_f32";
    sum.touches = {Touch{acc_, var(i), 1, true}};
    sum.args = {integer(s_.lanes_k)};
    for (std::int64_t width = s_.lanes_k; width > 1; width /= 2) sum.flops += 1;
    return block(loop(i, accumulators(), LoopKind::kUnrolled, block(sum)));
  }

  /// Executes `body` for every sum of this thread, on one of the lanes that hold the same sums. `output`
  /// counts from the block's first output.
  template <typename Body>
  Block each_sum(const Body& body) {
    const VarId i = builder_.var("i");
    const VarId t = builder_.var("t");
    const VarId e = builder_.var("e");
    const VarId output = builder_.var("output");
    Block inner =
        body(var(i), var(output), load(acc_, (var(i) * s_.each + var(t)) * shape_.outputs_per_load + var(e)));
    inner.push_front(Let{output, output_in_block(var(t)) + var(e)});
    inner = block(loop(e, shape_.outputs_per_load, LoopKind::kUnrolled, inner));
    inner = block(loop(t, s_.each, LoopKind::kUnrolled, inner));
    inner = block(loop(i, p_.vectors, LoopKind::kUnrolled, inner));
    if (s_.lanes_k == 1) return inner;
    return block(If{eq(var(thread_) % s_.lanes_k, integer(0)), inner, {}});
  }

  /// Stores the result for one vector and one output of the block to C.
  Block to_c(const Expr& vector, const Expr& output, Expr value) {
    const Expr at = var(first_) + output;
    Expr index = first_of(p_.vectors * p_.outputs) +
                 (p_.vectors_inner ? at * p_.vectors + vector : vector * p_.outputs + at);
    // The epilogue's channels are the columns of the workload's C.
    value = epilogue_.of(value, {p_.matrix_is_a ? vector : at, false, index, 1, std::nullopt});
    if (p_.c_type != DType::kF32) value = cast(p_.c_type, value);
    Block store = block(Store{c_, index, value, 1, std::nullopt});
    if (outputs_are_whole()) return store;
    return block(If{lt(at, integer(p_.outputs)), store, {}});
  }

  Block write_own() {
    return each_sum(
        [&](const Expr& vector, const Expr& output, Expr value) { return to_c(vector, output, value); });
  }

  /// Stores the sums of every warp along k to shared memory, in the order of C. Then each thread adds up the
  /// sums of one result, always in the same order.
  Block reduce_warps() {
    const std::int64_t results = block_results();
    Block body = block(Alloc{partial_}, Alloc{sum_});
    const Expr mine = var(slice_) / s_.lanes_k * results;
    append(body, each_sum([&](const Expr& vector, const Expr& output, Expr value) {
             Expr at =
                 p_.vectors_inner ? output * p_.vectors + vector : vector * shape_.outputs_per_block + output;
             return block(Store{partial_, mine + at, value, 1, std::nullopt});
           }));
    body.push_back(Barrier{});

    const VarId round = builder_.var("round");
    const VarId at = builder_.var("at");
    const VarId warp = builder_.var("w");
    const bool whole = results % s_.threads() == 0;
    // Threads without a result compute the last one once more, which avoids a branch around the sum.
    const Expr from = whole ? var(at) : min(var(at), integer(results - 1));
    Expr total = load(sum_, integer(0)) + load(partial_, (var(warp) + 1) * results + from);
    const Expr vector = p_.vectors_inner ? var(at) % p_.vectors : var(at) / shape_.outputs_per_block;
    const Expr output = p_.vectors_inner ? var(at) / p_.vectors : var(at) % shape_.outputs_per_block;
    Block write = to_c(vector, output, load(sum_, integer(0)));
    if (!whole) write = block(If{lt(var(at), integer(results)), write, {}});
    Block one = block(Let{at, var(round) * s_.threads() + var(thread_)},
                      Store{sum_, integer(0), load(partial_, from), 1, std::nullopt},
                      loop(warp, s_.warps_k - 1, LoopKind::kUnrolled,
                           block(Store{sum_, integer(0), total, 1, std::nullopt})));
    append(one, write);
    body.push_back(loop(round, ceil_div(results, s_.threads()), LoopKind::kSerial, one));
    return body;
  }

  GemvProblem p_;
  GemvSchedule s_;
  GemvShape shape_;
  KernelBuilder builder_;
  FusedEpilogue epilogue_;
  BufferId matrix_{}, vectors_{}, c_{}, acc_{}, matrix_part_{}, vector_part_{}, partial_{}, sum_{};
  VarId block_{}, batch_{}, thread_{};
  VarId first_{};  ///< the block's first output
  VarId slice_{};  ///< number of this thread's slice of k
  VarId place_{};  ///< this thread's position along the block's outputs
};

Kernel lower_gemv_simt(const Workload& workload, const GemvSchedule& schedule, const Limits&) {
  return Lowering(workload, schedule).kernel();
}

}  // namespace

Template gemv_simt_template() {
  return family<"gemv_simt", gemv_simt_knobs, gemv_simt_wanted, lower_gemv_simt>(
      {.version = 1,
       .target = Target::kCuda,
       .why_not = gemv_why_not,
       .op = Operator::kGemm,
       .reads = {"math", "alpha"}});
}

}  // namespace lehr
