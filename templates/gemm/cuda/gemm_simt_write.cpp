#include "templates/gemm/cuda/gemm_simt_write.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace lehr {
namespace {

using namespace ir;

constexpr int kWindow = 4;  // pixels of a 2 x 2 window

class Writing {
 public:
  Writing(KernelBuilder& builder, const GemmSimtThread& thread, const GemmSimtOutput& output)
      : builder_(builder), t_(thread), s_(thread.schedule), out_(output) {
    row_ = builder.var("row");
    column_ = builder.var("column");
  }

  /// Writes C from registers. Neighbouring lanes of a warp write neighbouring columns.
  Block from_registers() {
    const std::int64_t height = t_.height(), width = t_.width(), vec = vector(width);
    const Unrolled fi(builder_, "fi", s_.tm / height), r(builder_, "r", height);
    const Unrolled fj(builder_, "fj", s_.tn / width), part(builder_, "part", width / vec);
    const Expr first = (fi.at * height + r.at) * s_.tn + fj.at * width + part.at * vec;
    Block body = inside_columns(to_c(t_.acc, first, vec));
    body.push_front(
        Let{column_, var(out_.n0) + var(t_.column) + fj.at * (s_.lanes_n() * width) + part.at * vec});
    body = inside_rows(fj.over(part.over(body)));
    body.push_front(Let{row_, var(out_.m0) + var(t_.row) + fi.at * (s_.lanes_m * height) + r.at});
    return fi.over(r.over(body));
  }

  /// Pools the windows that the thread holds, and stores the results. A window consists of four neighbouring
  /// pixels, which are rows or columns of C.
  Block pooled_from_registers() { return out_.channels_are_columns ? pooled_rows() : pooled_columns(); }

  Block through_shared() {
    const std::int64_t height = t_.height(), width = t_.width(),
                       vec = vector(std::min<std::int64_t>(4, s_.tn));
    const std::int64_t columns = s_.warp_columns();
    const Unrolled fi(builder_, "fi", s_.tm / height), r(builder_, "r", height);
    const Unrolled fj(builder_, "fj", s_.tn / width), part(builder_, "part", s_.tn / vec);
    const VarId at = builder_.var("at");
    const Expr own = var(t_.warp) * (32 * s_.tn);  // this warp's piece of the staging buffer

    Expr share = load(t_.acc, (fi.at * height + r.at) * s_.tn + fj.at * width, static_cast<int>(width));
    Stmt put = Store{out_.staging,
                     own + var(t_.lane) / s_.lanes_n() * columns + fj.at * (s_.lanes_n() * width) +
                         var(t_.lane) % s_.lanes_n() * width,
                     share, static_cast<int>(width), std::nullopt};

    Block take;
    const Expr staged = own + var(at);
    if (out_.epilogue.empty()) {
      take = inside_columns(to_c(out_.staging, staged, vec));
    } else {
      const BufferId held = builder_.buffer("taken", DType::kF32, Scope::kRegister, vec);
      const int lanes = static_cast<int>(vec);
      take =
          block(Alloc{held}, Store{held, integer(0), load(out_.staging, staged, lanes), lanes, std::nullopt});
      append(take, to_c(held, integer(0), vec));
      take = inside_columns(take);
    }
    const Expr warp_column = var(t_.warp) % s_.warps_n() * columns;
    const Expr warp_row = var(t_.warp) / s_.warps_n() * (s_.lanes_m * s_.tm);
    take.push_front(Let{column_, var(out_.n0) + warp_column + var(at) % columns});
    take = inside_rows(take);
    take.push_front(Let{
        row_, var(out_.m0) + warp_row + fi.at * (s_.lanes_m * height) + var(at) / columns * height + r.at});
    take.push_front(Let{at, (part.at * 32 + var(t_.lane)) * vec});

    Block round = fj.over(block(put));
    round.push_back(Barrier{BarrierScope::kWarp});
    append(round, part.over(take));
    round.push_back(Barrier{BarrierScope::kWarp});
    return fi.over(r.over(round));
  }

 private:
  Block pooled_rows() {
    const std::int64_t width = t_.width(), vec = vector(width);
    const Unrolled fi(builder_, "fi", s_.tm / kWindow), r(builder_, "r", kWindow);
    const Unrolled fj(builder_, "fj", s_.tn / width), part(builder_, "part", width / vec);
    const Unrolled at(builder_, "at", vec);
    const Expr first = fi.at * (kWindow * s_.tn) + fj.at * width + part.at * vec;
    const int lanes = static_cast<int>(vec);
    Block body =
        block(Let{column_, var(out_.n0) + var(t_.column) + fj.at * (s_.lanes_n() * width) + part.at * vec});
    Block pool = r.over(out_.epilogue.in_place(
        builder_, t_.acc, first + r.at * s_.tn,
        {.channel = out_.first_channel + var(column_), .along_channels = true, .lanes = lanes}));
    std::vector<Expr> pixels;
    for (std::int64_t row = 0; row < kWindow; ++row)
      pixels.push_back(load(t_.acc, first + row * s_.tn + at.at));
    append(pool, at.over(block(Store{t_.acc, first + at.at, out_.epilogue.pool(std::move(pixels), 1), 1,
                                     std::nullopt})));
    pool.push_back(Store{out_.c, out_.base + var(row_) / kWindow * out_.row + var(column_),
                         load(t_.acc, first, lanes), lanes, std::nullopt});
    append(body, inside_columns(pool));
    body = inside_rows(fj.over(part.over(body)));
    body.push_front(Let{row_, var(out_.m0) + var(t_.row) + fi.at * (s_.lanes_m * kWindow)});
    return fi.over(body);
  }

  Block pooled_columns() {
    const std::int64_t height = t_.height();
    const Unrolled fi(builder_, "fi", s_.tm / height), r(builder_, "r", height);
    const Unrolled fj(builder_, "fj", s_.tn / kWindow);
    const Expr first = (fi.at * height + r.at) * s_.tn + fj.at * kWindow;
    Block pool = out_.epilogue.in_place(builder_, t_.acc, first,
                                        {.channel = out_.first_channel + var(row_), .lanes = kWindow});
    std::vector<Expr> pixels;
    for (std::int64_t i = 0; i < kWindow; ++i) pixels.push_back(load(t_.acc, first + i));
    pool.push_back(Store{out_.c, out_.base + var(row_) * (out_.n / kWindow) + var(column_) / kWindow,
                         out_.epilogue.pool(std::move(pixels), 1), 1, std::nullopt});
    Block body = block(Let{column_, var(out_.n0) + var(t_.column) + fj.at * (s_.lanes_n() * kWindow)});
    append(body, inside_columns(pool));
    body = inside_rows(fj.over(body));
    body.push_front(Let{row_, var(out_.m0) + var(t_.row) + fi.at * (s_.lanes_m * height) + r.at});
    return fi.over(r.over(body));
  }

  /// Returns the longest vector up to `most` (a power of two) at which every row of C is aligned.
  std::int64_t vector(std::int64_t most) const {
    while (out_.n % most != 0) most /= 2;
    return most;
  }

  /// Stores `vec` elements of `sums`, from `first` on, to C. With an epilogue `sums` must be registers.
  Block to_c(BufferId sums, const Expr& first, std::int64_t vec) const {
    const int lanes = static_cast<int>(vec);
    if (out_.epilogue.gated()) return pairs_to_c(sums, first, vec);
    const Expr element = out_.base + var(row_) * out_.row + var(column_);
    Block result =
        out_.epilogue.in_place(builder_, sums, first,
                               {out_.first_channel + (out_.channels_are_columns ? var(column_) : var(row_)),
                                out_.channels_are_columns, element, lanes, std::nullopt});
    result.push_back(Store{out_.c, element, load(sums, first, lanes), lanes, std::nullopt});
    return result;
  }

  /// Does the same as to_c() for an epilogue that combines two columns to one.
  Block pairs_to_c(BufferId sums, const Expr& first, std::int64_t vec) const {
    const int lanes = static_cast<int>(vec / 2);
    Block result = out_.epilogue.in_place(
        builder_, sums, first,
        {.channel = var(column_), .along_channels = true, .lanes = static_cast<int>(vec)});
    append(result, out_.epilogue.gate_in_place(builder_, sums, first, vec / 2));
    const Expr element = out_.base + var(row_) * out_.row + var(column_) / 2;
    result.push_back(Store{out_.c, element, load(sums, first, lanes), lanes, std::nullopt});
    return result;
  }

  Block inside_columns(Block body) const {
    if (out_.n % s_.bn == 0) return body;
    return block(If{lt(var(column_), integer(out_.n)), body, {}});
  }
  Block inside_rows(Block body) const {
    if (out_.m % s_.bm == 0) return body;
    return block(If{lt(var(row_), integer(out_.m)), body, {}});
  }

  KernelBuilder& builder_;
  const GemmSimtThread& t_;
  const GemmSimtSchedule& s_;
  const GemmSimtOutput& out_;
  VarId row_{}, column_{};
};

}  // namespace

Block gemm_simt_write(KernelBuilder& builder, const GemmSimtThread& thread, const GemmSimtOutput& output) {
  Writing writing(builder, thread, output);
  if (output.epilogue.window() > 1) return writing.pooled_from_registers();
  return thread.schedule.staged == 1 ? writing.through_shared() : writing.from_registers();
}

}  // namespace lehr
