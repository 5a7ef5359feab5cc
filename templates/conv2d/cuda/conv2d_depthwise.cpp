#include "templates/conv2d/cuda/conv2d_depthwise.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/ceil_div.h"
#include "templates/family.h"
#include "templates/shared/conv_view.h"
#include "templates/shared/cuda_common.h"
#include "templates/shared/epilogue_expr.h"
#include "templates/shared/image_view.h"

namespace lehr {
namespace {

using namespace ir;

/// Maximum number of taps times outputs of a thread. With more, the code does not fit into the instruction
/// cache.
constexpr std::int64_t kMaxUnrolled = 512;
constexpr std::int64_t kMaxOutputs = 32;
/// Registers of a thread in addition to sums, weights and the inputs that ptxas loads ahead (with a quarter
/// more for addresses and conditions). Checked by the NVRTC test of the family (13.0, sm_80 and sm_90a).
constexpr std::int64_t kOtherRegisters = 56;
/// Values of the knob `unroll`.
constexpr std::int64_t kNoTaps = 0, kRowOfTaps = 1, kAllTaps = 2;
// Maximum extent of a thread's outputs along one dimension, including what it reads beyond the image.
constexpr std::int64_t kLargestTile = 64;

struct Schedule {
  std::int64_t threads = 128;
  std::int64_t rows = 1, columns = 1;  ///< outputs of a thread
  std::int64_t vec = 1;                ///< channels of a thread, with nhwc
  std::int64_t unroll = kAllTaps;      ///< taps whose inputs may be in registers together
  std::int64_t min_blocks = 1;
};

std::int64_t registers(const Conv2d& conv, const Schedule& s) {
  const std::int64_t r = s.unroll == kAllTaps ? conv.r : 1, taps = s.unroll == kNoTaps ? 1 : conv.s;
  const auto reach = [](std::int64_t outputs, std::int64_t stride, std::int64_t filter,
                        std::int64_t dilation) {
    return std::min(outputs * filter, (outputs - 1) * stride + (filter - 1) * dilation + 1);
  };
  const std::int64_t inputs = reach(s.rows, conv.stride_h, r, conv.dilation_h) *
                              reach(s.columns, conv.stride_w, taps, conv.dilation_w);
  return s.vec * (s.rows * s.columns + r * taps + inputs * 5 / 4) + kOtherRegisters;
}

bool is_nhwc(const Conv2d& conv) {
  return conv.layout == ImageLayout::kNhwc;
}

std::optional<std::string> why_not(const Workload& workload, const Limits& limits) {
  const Conv2d& conv = workload.conv2d();
  if (conv.groups != conv.c || conv.k != conv.c || conv.c == 1)
    return "it takes as many groups as input and output channels, and more than one";
  const bool one_type = conv.input == conv.filter && conv.input == conv.output && conv.accum == DType::kF32;
  const bool known = conv.input == DType::kF32 || conv.input == DType::kF16 || conv.input == DType::kBF16;
  if (!one_type || !known)
    return fmt::format("all tensors must be f32, f16 or bf16 with sums in f32, not {}, {} and {} in {}",
                       name_of(conv.input), name_of(conv.filter), name_of(conv.output), name_of(conv.accum));
  if (auto reason = cuda::why_not_stored(conv.output, limits)) return reason;
  return why_no_view_indices(conv, kLargestTile);
}

/// Returns the possible numbers of outputs: those of which at most half lies beyond `limit`, and always the
/// first.
std::vector<std::int64_t> outputs_up_to(std::int64_t limit) {
  std::vector<std::int64_t> counts = {1, 2, 4, 8};
  while (counts.size() > 1 && counts.back() >= 2 * limit) counts.pop_back();
  return counts;
}

void knobs(Knobs<Schedule>& k, const Workload& workload, const Limits& limits) {
  using S = Schedule;
  const Conv2d conv = trimmed_view(workload).conv;
  std::vector<std::int64_t> vectors = {1}, unrolled = {kNoTaps, kRowOfTaps};
  for (const std::int64_t vec : {2, 4, 8})
    if (is_nhwc(conv) && conv.c % vec == 0 && vec * size_of(conv.input) <= 16) vectors.push_back(vec);
  if (conv.r > 1) unrolled.push_back(kAllTaps);
  const auto outputs = [](const S& s) { return s.rows * s.columns * s.vec; };
  k.knob(&S::threads, "threads", "threads of a block", {64, 128, 256});
  k.knob(&S::rows, "rows", "rows of outputs of a thread", outputs_up_to(conv.out_h()));
  k.knob(&S::columns, "columns", "columns of outputs of a thread", outputs_up_to(conv.out_w()));
  k.knob(&S::vec, "vec", "channels of a thread", vectors);
  k.forbid("more outputs than a thread can hold", [=](const S& s) { return outputs(s) > kMaxOutputs; });
  k.knob(&S::unroll, "unroll", "taps unrolled 0: none, 1: a row of the filter, 2: all", unrolled);
  k.forbid("too much code",
           [=](const S& s) { return s.unroll == kAllTaps && outputs(s) * conv.r * conv.s > kMaxUnrolled; });
  k.knob(&S::min_blocks, "min_blocks", "blocks that a multiprocessor must hold", {1, 2, 4});
  k.forbid("needs more registers than a thread can have", [=](const S& s) {
    return registers(conv, s) > cuda::registers_granted(limits, s.min_blocks, s.threads);
  });
}

Schedule wanted(const Workload& workload, const Limits&) {
  return {.threads = 128, .rows = 4, .columns = is_nhwc(workload.conv2d()) ? 2 : 1, .vec = 2};
}

class Lowering {
 public:
  Lowering(const Workload& workload, const Schedule& schedule)
      : view_(trimmed_view(workload)), conv_(view_.conv), s_(schedule) {
    const Conv2d& conv = conv_;
    b_.kernel.name = "conv2d_depthwise";
    b_.kernel.target = Target::kCuda;
    b_.kernel.min_blocks_per_core = static_cast<int>(s_.min_blocks);
    x_ = b_.param("x", conv.input, conv.n * conv.c * conv.h * conv.w, Direction::kIn);
    f_ = b_.param("f", conv.filter, view_.filter_elements(), Direction::kIn);
    y_ = b_.param("y", conv.output, conv.n * conv.c * conv.out_h() * conv.out_w(), Direction::kOut);
    epilogue_ = FusedEpilogue(b_, workload);
    acc_ = b_.buffer("acc", DType::kF32, Scope::kRegister, s_.rows * s_.columns * s_.vec);
    weights_ = b_.buffer("weights", DType::kF32, Scope::kRegister, s_.vec);
    values_ = b_.buffer("values", conv.input, Scope::kRegister, s_.vec);
    if (conv.output != DType::kF32)
      converted_ = b_.buffer("converted", conv.output, Scope::kRegister, s_.vec);
    b_.make_vars({{block_, "block"},
                  {thread_, "thread"},
                  {number_, "number"},
                  {image_, "image"},
                  {channel_, "channel"},
                  {row0_, "row0"},
                  {column0_, "column0"},
                  {i_, "i"},
                  {j_, "j"},
                  {v_, "v"}});
  }

  Kernel kernel() {
    Block work = places();
    for (const BufferId buffer : {acc_, weights_, values_}) work.push_back(Alloc{buffer});
    if (conv_.output != DType::kF32) work.push_back(Alloc{converted_});
    work.push_back(over_outputs(block(loop(v_, s_.vec, LoopKind::kUnrolled,
                                           block(Store{acc_, sum(), zero(DType::kF32), 1, std::nullopt})))));
    work.push_back(taps());
    work.push_back(write());
    const std::int64_t blocks = ceil_div(tiles(), s_.threads);
    Block body = block(Let{number_, var(block_) * s_.threads + var(thread_)});
    if (tiles() % s_.threads != 0) work = block(If{lt(var(number_), integer(tiles())), work, {}});
    append(body, work);
    body = block(loop(thread_, s_.threads, LoopKind::kThreadX, body));
    b_.kernel.body = block(loop(block_, blocks, LoopKind::kBlockX, body));
    return std::move(b_.kernel);
  }

 private:
  std::int64_t tile_rows() const { return ceil_div(conv_.out_h(), s_.rows); }
  std::int64_t tile_columns() const { return ceil_div(conv_.out_w(), s_.columns); }
  std::int64_t tiles() const { return conv_.n * conv_.c / s_.vec * tile_rows() * tile_columns(); }

  /// Neighbouring threads compute outputs that are neighbours in memory: columns with nchw, channels with
  /// nhwc.
  Block places() const {
    const std::int64_t rows = tile_rows(), columns = tile_columns(), channels = conv_.c / s_.vec;
    if (is_nhwc(conv_))
      return block(Let{channel_, var(number_) % channels * s_.vec},
                   Let{column0_, var(number_) / channels % columns * s_.columns},
                   Let{row0_, var(number_) / (channels * columns) % rows * s_.rows},
                   Let{image_, var(number_) / (channels * columns * rows)});
    return block(Let{column0_, var(number_) % columns * s_.columns},
                 Let{row0_, var(number_) / columns % rows * s_.rows},
                 Let{channel_, var(number_) / (columns * rows) % conv_.c},
                 Let{image_, var(number_) / (columns * rows * conv_.c)});
  }

  Expr sum() const { return (var(i_) * s_.columns + var(j_)) * s_.vec + var(v_); }
  Stmt over_outputs(Block body) const {
    return loop(i_, s_.rows, LoopKind::kUnrolled, block(loop(j_, s_.columns, LoopKind::kUnrolled, body)));
  }
  static Expr as_f32(DType type, Expr value) {
    return type == DType::kF32 ? value : cast(DType::kF32, value);
  }
  /// Returns the index of an element in a tensor of h x w pixels.
  Expr element(const Expr& row, const Expr& column, std::int64_t h, std::int64_t w) const {
    if (is_nhwc(conv_)) return ((var(image_) * h + row) * w + column) * conv_.c + var(channel_);
    return ((var(image_) * conv_.c + var(channel_)) * h + row) * w + column;
  }

  /// Adds the products input * filter to the sums, tap by tap.
  Stmt taps() {
    const VarId r = b_.var("r"), s = b_.var("s");
    const Expr row = (var(row0_) + var(i_)) * conv_.stride_h + var(r) * conv_.dilation_h - conv_.pad_top;
    const Expr column =
        (var(column0_) + var(j_)) * conv_.stride_w + var(s) * conv_.dilation_w - conv_.pad_left;
    const int lanes = static_cast<int>(s_.vec);
    Block fetch = block(Store{values_, integer(0), load(x_, element(row, column, conv_.h, conv_.w), lanes),
                              lanes, std::nullopt});
    if (auto inside = inside_image(row, column))
      fetch = block(loop(v_, s_.vec, LoopKind::kUnrolled,
                         block(Store{values_, var(v_), zero(conv_.input), 1, std::nullopt})),
                    If{*inside, fetch, {}});
    Expr product =
        fma(as_f32(conv_.input, load(values_, var(v_))), load(weights_, var(v_)), load(acc_, sum()));
    Block of_output = fetch;
    of_output.push_back(
        loop(v_, s_.vec, LoopKind::kUnrolled, block(Store{acc_, sum(), product, 1, std::nullopt})));
    const Expr weight =
        view_.filter_element(var(channel_) + var(v_), integer(0), view_.stored_tap(var(r), var(s)));
    Block of_tap =
        block(loop(v_, s_.vec, LoopKind::kUnrolled,
                   block(Store{weights_, var(v_), as_f32(conv_.filter, load(f_, weight)), 1, std::nullopt})),
              over_outputs(of_output));
    const auto kind = [&](std::int64_t from) {
      return s_.unroll >= from ? LoopKind::kUnrolled : LoopKind::kSerial;
    };
    return loop(r, conv_.r, kind(kAllTaps), block(loop(s, conv_.s, kind(kRowOfTaps), of_tap)));
  }

  /// Returns the condition that the pixel exists. Tiles extend beyond the output, and therefore beyond the
  /// image even without padding.
  std::optional<Expr> inside_image(const Expr& row, const Expr& column) const {
    return pixel_inside(conv_, row, column, tile_rows() * s_.rows, tile_columns() * s_.columns);
  }

  Stmt write() {
    const int lanes = static_cast<int>(s_.vec);
    const Expr row = var(row0_) + var(i_), column = var(column0_) + var(j_);
    const Expr at = element(row, column, conv_.out_h(), conv_.out_w());
    const Expr first = (var(i_) * s_.columns + var(j_)) * s_.vec;
    Block body;
    if (!epilogue_.empty())
      body = epilogue_.in_place(b_, acc_, first, {var(channel_), is_nhwc(conv_), at, lanes, std::nullopt});
    if (conv_.output == DType::kF32) {
      body.push_back(Store{y_, at, load(acc_, first, lanes), lanes, std::nullopt});
    } else {
      body.push_back(
          loop(v_, s_.vec, LoopKind::kUnrolled,
               block(Store{converted_, var(v_), cast(conv_.output, load(acc_, sum())), 1, std::nullopt})));
      body.push_back(Store{y_, at, load(converted_, integer(0), lanes), lanes, std::nullopt});
    }
    std::optional<Expr> exists;
    if (conv_.out_h() % s_.rows != 0) exists = lt(row, integer(conv_.out_h()));
    if (conv_.out_w() % s_.columns != 0) {
      Expr in_row = lt(column, integer(conv_.out_w()));
      exists = exists ? logical_and(*exists, in_row) : in_row;
    }
    if (exists) body = block(If{*exists, body, {}});
    return over_outputs(body);
  }

  ConvView view_;
  const Conv2d& conv_;
  Schedule s_;
  KernelBuilder b_;
  FusedEpilogue epilogue_;
  BufferId x_{}, f_{}, y_{}, acc_{}, weights_{}, values_{}, converted_{};
  VarId block_{}, thread_{}, number_{}, image_{}, channel_{}, row0_{}, column0_{}, i_{}, j_{}, v_{};
};

Kernel lower_conv2d_depthwise(const Workload& workload, const Schedule& schedule, const Limits&) {
  return Lowering(workload, schedule).kernel();
}

}  // namespace

Template conv2d_depthwise_template() {
  return family<"conv2d_depthwise", knobs, wanted, lower_conv2d_depthwise>(
      {.version = 3, .target = Target::kCuda, .why_not = why_not, .op = Operator::kConv2d});
}

}  // namespace lehr
