// Lowering: grid, main loop over groups of input channels, the products.
#include "templates/conv2d/cuda/conv2d_winograd.h"

#include <fmt/core.h>

#include <utility>

#include "templates/conv2d/cuda/conv2d_winograd_block.h"
#include "templates/conv2d/cuda/conv2d_winograd_copy.h"
#include "templates/conv2d/cuda/conv2d_winograd_space.h"
#include "templates/conv2d/cuda/conv2d_winograd_write.h"
#include "templates/family.h"
#include "templates/shared/image_view.h"

namespace lehr {
namespace {

using namespace ir;

// Number of output channels that a block may extend beyond the last one.
constexpr std::int64_t kLargestTile = 128;

class Lowering {
 public:
  Lowering(const Workload& workload, const WinogradCudaSchedule& schedule)
      : w_{.conv = workload.conv2d(),
           .schedule = schedule,
           .shape = winograd_cuda_shape(workload.conv2d(), schedule),
           .algorithm = winograd(schedule.tile)} {
    const Conv2d& conv = w_.conv;
    b_.kernel.name = "conv2d_winograd";
    b_.kernel.target = Target::kCuda;
    b_.kernel.min_blocks_per_core = static_cast<int>(s_.min_blocks);
    w_.x = b_.param("x", DType::kF32, conv.n * conv.c * conv.h * conv.w, Direction::kIn);
    w_.f = b_.param("f", DType::kF32, conv.k * conv.products(), Direction::kIn);
    w_.y = b_.param("y", DType::kF32, conv.n * conv.k * conv.out_h() * conv.out_w(), Direction::kOut);
    epilogue_ = FusedEpilogue(b_, workload);
    w_.shared = b_.buffer("transformed", DType::kF32, Scope::kShared, w_.shape.shared_elements);
    w_.sums = b_.buffer("sums", DType::kF32, Scope::kRegister, s_.sums());
    u_ = b_.buffer("u_fragment", DType::kF32, Scope::kRegister, s_.tm);
    v_ = b_.buffer("v_fragment", DType::kF32, Scope::kRegister, s_.tn);
    b_.make_vars({{block_, "block"},
                  {w_.thread, "thread"},
                  {w_.m0, "m0"},
                  {w_.n0, "n0"},
                  {w_.product, "product"},
                  {w_.row, "row_in"},
                  {w_.column, "column_in"}});
    if (s_.split_k > 1) add_split();
  }

  Kernel kernel() {
    const WinogradCopy copy(b_, w_);
    Block body = positions();
    for (const BufferId buffer : {w_.shared, w_.sums, u_, v_}) body.push_back(Alloc{buffer});
    append(body, copy.positions());
    append(body, clear());
    append(body, main_loop(copy));
    const SplitKPlace place = {s_.split_k > 1 ? var(split_) : integer(0), var(block_), w_.thread};
    append(body, winograd_write(b_, w_, epilogue_, s_.split_k > 1 ? &exchange_ : nullptr, place));
    Block grid = block(loop(w_.thread, s_.threads(), LoopKind::kThreadX, body));
    grid = block(loop(block_, w_.shape.blocks(), LoopKind::kBlockX, grid));
    if (s_.split_k > 1) grid = block(loop(split_, s_.split_k, LoopKind::kBlockY, grid));
    b_.kernel.body = grid;
    return std::move(b_.kernel);
  }

 private:
  void add_split() {
    split_ = b_.var("split");
    first_group_ = b_.var("first_group");
    groups_ = b_.var("groups");
    exchange_.parts = s_.split_k;
    exchange_.tiles = w_.shape.blocks();
    exchange_.threads = s_.threads();
    exchange_.elements = winograd_kept(w_);
    exchange_.vec = 4;  // a tile's outputs are 4 or 16
    add_split_k_buffers(b_, DType::kF32, exchange_);
  }

  /// Defines the positions of the block's tiles and channels, and of the thread in the block.
  Block positions() {
    const WinogradCudaShape& shape = w_.shape;
    const bool channels_first = s_.channels_first == 1;
    const Expr m = channels_first ? var(block_) % shape.blocks_m : var(block_) / shape.blocks_n;
    const Expr n = channels_first ? var(block_) / shape.blocks_m : var(block_) % shape.blocks_n;
    const std::int64_t group = s_.group(), columns = s_.thread_columns();
    Block result = block(Let{w_.m0, m * s_.bm}, Let{w_.n0, n * s_.bn},
                         Let{w_.product, var(w_.thread) / group * s_.products},
                         Let{w_.row, var(w_.thread) % group / columns * s_.vector_m()},
                         Let{w_.column, var(w_.thread) % columns * s_.vector_n()});
    const SplitK& split = shape.split;
    if (s_.split_k > 1) result.push_back(Let{first_group_, var(split_) * split.most()});
    if (split.least() < split.most())
      result.push_back(Let{groups_, min(integer(split.tiles) - var(first_group_), integer(split.most()))});
    return result;
  }

  Block clear() {
    const VarId i = b_.var("i");
    return block(loop(i, s_.sums(), LoopKind::kUnrolled,
                      block(Store{w_.sums, var(i), zero(DType::kF32), 1, std::nullopt})));
  }

  /// Return the number of groups of input channels of this block, and the number among all groups of its
  /// group `group`.
  Expr groups() const {
    const SplitK& split = w_.shape.split;
    return split.least() == split.most() ? integer(split.most()) : var(groups_);
  }
  Expr number(const Expr& group) const { return s_.split_k > 1 ? var(first_group_) + group : group; }

  /// With two stages, one barrier per group is enough: the stage that is written was last read before the
  /// barrier of the previous group. At the end all threads have finished reading the stages.
  Block main_loop(const WinogradCopy& copy) {
    const std::int64_t most = w_.shape.split.most();
    const VarId group = b_.var("group"), at = b_.var("stage_at");
    const Expr more = lt(var(group), groups() - 1);
    const bool ahead = s_.prefetch == 1;
    Block result, body;
    if (ahead) append(result, copy.fetch(number(integer(0))));
    body.push_back(Let{at, s_.stages == 1 ? integer(0) : var(group) % s_.stages * w_.shape.stage});
    append(body, ahead ? copy.store(var(at)) : copy.move(number(var(group)), var(at)));
    body.push_back(Barrier{});
    if (ahead) body.push_back(If{more, copy.fetch(number(var(group) + 1)), {}});
    append(body, multiply(var(at)));
    if (s_.stages == 1) body.push_back(Barrier{});
    result.push_back(loop_to(group, groups(), most, body));
    if (s_.stages > 1) result.push_back(Barrier{});
    return result;
  }

  /// Loads one fragment for input channel `k` and product `p` of the thread.
  Stmt load_fragment(bool filters, const Expr& from, const Expr& k, const Expr& p) {
    const std::int64_t stride = filters ? w_.shape.u_stride : w_.shape.v_stride;
    const std::int64_t wide = filters ? s_.vector_m() : s_.vector_n();
    const std::int64_t apart = wide * (filters ? s_.thread_rows() : s_.thread_columns());
    const int lanes = static_cast<int>(wide);
    const VarId part = b_.var("part");
    const Expr at = from + (p * s_.bk + k) * stride + var(part) * apart;
    return loop(
        part, (filters ? s_.tm : s_.tn) / wide, LoopKind::kUnrolled,
        block(Store{filters ? u_ : v_, var(part) * wide, load(w_.shared, at, lanes), lanes, std::nullopt}));
  }

  /// Adds filters x inputs to the sums. Every second row is walked backwards, as in gemm_simt, so that each
  /// multiply-add shares an operand with the previous one.
  Block multiply(const Expr& stage) {
    const VarId u_from = b_.var("u_from"), v_from = b_.var("v_from");
    const VarId ko = b_.var("ko"), ki = b_.var("ki"), p = b_.var("p"), i = b_.var("i"), j = b_.var("j");
    const auto row = [&](const Expr& m, const Expr& n) {
      const Expr sum = (var(p) * s_.tm + m) * s_.tn + n;
      return loop(
          j, s_.tn, LoopKind::kUnrolled,
          block(Store{w_.sums, sum, fma(load(u_, m), load(v_, n), load(w_.sums, sum)), 1, std::nullopt}));
    };
    const auto fragment = [&](bool filters, VarId from) {
      return load_fragment(filters, var(from), var(ki), var(p));
    };
    Block step =
        block(fragment(true, u_from), fragment(false, v_from),
              loop(i, s_.tm / 2, LoopKind::kUnrolled,
                   block(row(var(i) * 2, var(j)), row(var(i) * 2 + 1, integer(s_.tn - 1) - var(j)))));
    step = block(loop(p, s_.products, LoopKind::kUnrolled, step));
    step = block(loop(ki, s_.unroll, LoopKind::kUnrolled, step));
    const bool whole = s_.unroll == s_.bk;
    const auto first = [&](std::int64_t stride) {
      const Expr at = stage + var(w_.product) * (s_.bk * stride);
      return whole ? at : at + var(ko) * (s_.unroll * stride);
    };
    Block result = block(Let{u_from, first(w_.shape.u_stride) + var(w_.row)},
                         Let{v_from, first(w_.shape.v_stride) + var(w_.column) + w_.inputs_at()});
    append(result, step);
    if (whole) return result;
    return block(loop(ko, s_.bk / s_.unroll, LoopKind::kSerial, result));
  }

  KernelBuilder b_;
  WinogradBlock w_;
  const WinogradCudaSchedule& s_ = w_.schedule;
  FusedEpilogue epilogue_;
  BufferId u_{}, v_{};
  VarId block_{};
  VarId split_{}, first_group_{}, groups_{};  ///< used with split_k > 1, as is `exchange_`
  SplitKSums exchange_;
};

Kernel lower_conv2d_winograd(const Workload& workload, const WinogradCudaSchedule& schedule, const Limits&) {
  return Lowering(workload, schedule).kernel();
}

std::optional<std::string> why_not(const Workload& workload, const Limits&) {
  const Conv2d& conv = workload.conv2d();
  if (!winograd_applies(conv)) return "made for f32 and 3x3 filters without stride, dilation and groups";
  return why_no_view_indices(conv, kLargestTile);
}

}  // namespace

Template conv2d_winograd_template() {
  return family<"conv2d_winograd", winograd_cuda_knobs, winograd_cuda_wanted, lower_conv2d_winograd>(
      {.version = 5,
       .target = Target::kCuda,
       .why_not = why_not,
       .op = Operator::kConv2d,
       .is_winograd = true});
}

}  // namespace lehr
