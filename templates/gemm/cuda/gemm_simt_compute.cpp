#include "templates/gemm/cuda/gemm_simt_compute.h"

#include <functional>

namespace lehr {
namespace {

using namespace ir;

class Multiplication {
 public:
  Multiplication(KernelBuilder& builder, const GemmSimtThread& thread, const Expr& stage)
      : builder_(builder), t_(thread), s_(thread.schedule), stage_(stage) {}

  Block statements() {
    if (t_.a.copy.kept || t_.b.copy.kept) return by_quads();
    return by_steps();
  }

 private:
  /// Loads the fragment of one operand at `k` into the fragment buffer number `turn`. `turn` becomes a
  /// constant when the loop is unrolled.
  Block load_fragment(bool of_a, const Expr& k, const Expr& turn) {
    const GemmSimtOperand& from = of_a ? t_.a : t_.b;
    const BufferId to = of_a ? t_.a_fragment : t_.b_fragment;
    const std::int64_t extent = of_a ? s_.tm : s_.tn;
    const std::int64_t lanes = of_a ? s_.lanes_m : s_.lanes_n();
    const std::int64_t width = from.copy.fragment_width(extent);
    const std::int64_t each = from.copy.kept ? kQuad : width;  // elements of one load
    const Unrolled f(builder_, "f", extent / width);
    const Expr x = var(of_a ? t_.row : t_.column) + f.at * (lanes * width);
    Expr index = stage_ * from.copy.elements() +
                 (from.copy.kept ? x * from.copy.stride + k : k * from.copy.stride + x);
    Stmt move = Store{to, turn * extent + f.at * each, load(from.shared, index, static_cast<int>(each)),
                      static_cast<int>(each), std::nullopt};
    return f.over(block(move));
  }

  /// Adds A fragment * B fragment to the accumulators. The fragment of a kept tile is element `step` of each
  /// quad. The fragment of any other tile is in fragment buffer number `turn`. The columns of every second
  /// row are processed in reverse order, so that each multiply-add has an operand in common with the previous
  /// one. In the order of the source text, ptxas keeps such operands in the register file's reuse cache.
  Block multiply_add(const Expr& turn, const Expr& step) {
    const Unrolled j(builder_, "j", s_.tn);
    const auto element = [&](bool of_a, const Expr& x) {
      const bool kept = of_a ? t_.a.copy.kept : t_.b.copy.kept;
      return load(of_a ? t_.a_fragment : t_.b_fragment,
                  kept ? x * kQuad + step : turn * (of_a ? s_.tm : s_.tn) + x);
    };
    const auto row = [&](const Expr& i, const Expr& column) {
      const Expr place = i * s_.tn + column;
      Expr sum = fma(element(true, i), element(false, column), load(t_.acc, place));
      return j.over(block(Store{t_.acc, place, sum, 1, std::nullopt}));
    };
    if (s_.tm == 1) return row(integer(0), j.at);
    const Unrolled i(builder_, "i", s_.tm / 2);
    Block rows = row(i.at * 2, j.at);
    append(rows, row(i.at * 2 + 1, integer(s_.tn - 1) - j.at));
    return i.over(rows);
  }

  /// Returns a loop over the elements of k in the tile. One iteration processes `unroll` elements.
  Block over_k(std::int64_t width, const std::function<Block(const Expr& k, const Expr& step)>& step_of) {
    const VarId ko = builder_.var("ko");
    const Unrolled ki(builder_, "ki", s_.unroll / width);
    const bool whole = s_.unroll == s_.bk;
    const Expr k = whole ? ki.at * width : var(ko) * s_.unroll + ki.at * width;
    Block steps = ki.over(step_of(k, ki.at));
    if (whole) return steps;
    return block(loop(ko, s_.bk / s_.unroll, LoopKind::kSerial, steps));
  }

  Block by_steps() {
    const auto load_both = [&](const Expr& k, const Expr& turn) {
      Block both = load_fragment(true, k, turn);
      append(both, load_fragment(false, k, turn));
      return both;
    };
    if (s_.frag_buffers == 1) {
      return over_k(1, [&](const Expr& k, const Expr&) {
        Block step = load_both(k, integer(0));
        append(step, multiply_add(integer(0), integer(0)));
        return step;
      });
    }
    Block result = load_both(integer(0), integer(0));
    append(result, over_k(1, [&](const Expr& k, const Expr& ki) {
             const Expr next = k + 1;
             Block step = block(If{lt(next, integer(s_.bk)), load_both(next, (ki + 1) % 2), {}});
             append(step, multiply_add(ki % 2, integer(0)));
             return step;
           }));
    return result;
  }

  /// Multiplies four elements of k at a time. A kept tile is read once for all four elements, any other tile
  /// once for each element.
  Block by_quads() {
    return over_k(kQuad, [&](const Expr& k, const Expr&) {
      const Unrolled kk(builder_, "kk", kQuad);
      Block quad, step;
      for (const bool of_a : {true, false}) {
        const bool kept = of_a ? t_.a.copy.kept : t_.b.copy.kept;
        append(kept ? quad : step, load_fragment(of_a, kept ? k : k + kk.at, integer(0)));
      }
      append(step, multiply_add(integer(0), kk.at));
      append(quad, kk.over(step));
      return quad;
    });
  }

  KernelBuilder& builder_;
  const GemmSimtThread& t_;
  const GemmSimtSchedule& s_;
  const Expr& stage_;
};

}  // namespace

Block gemm_simt_clear(KernelBuilder& builder, const GemmSimtThread& thread) {
  const Unrolled i(builder, "i", thread.schedule.tm * thread.schedule.tn);
  return i.over(block(Store{thread.acc, i.at, zero(DType::kF32), 1, std::nullopt}));
}

Block gemm_simt_multiply(KernelBuilder& builder, const GemmSimtThread& thread, const Expr& stage) {
  return Multiplication(builder, thread, stage).statements();
}

}  // namespace lehr
