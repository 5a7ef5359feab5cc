#include "templates/reference/plain_kernel.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "base/ceil_div.h"
#include "templates/reference/plain_product.h"
#include "templates/shared/epilogue_expr.h"

namespace lehr {
namespace {

using namespace ir;

/// The tile that a block computes, step by step along k. Thread (x, y) has the sums of rows y + lanes_m i and
/// columns x + lanes_n j. Behind a gate, the first half of the columns are gates and the second their values.
struct Tile {
  std::int64_t lanes_m = 16, lanes_n = 16;  ///< threads
  std::int64_t tm = 4, tn = 4;              ///< sums of a thread
  std::int64_t k = 16;
  std::int64_t threads() const { return lanes_m * lanes_n; }
  std::int64_t rows() const { return lanes_m * tm; }
  std::int64_t columns() const { return lanes_n * tn; }
};

/// Returns a wide tile, or one for the few columns of a group or a vector.
Tile tile_for(const PlainProduct& product) {
  constexpr std::int64_t kFewRows = 16, kFewColumns = 8;
  Tile tile;
  if (product.rows <= kFewRows) tile.tm = 1;
  if (product.columns <= kFewColumns) tile = {.lanes_m = 32, .lanes_n = 4, .tm = 2, .tn = 2};
  if (product.columns == 1) tile = {.lanes_m = 64, .lanes_n = 1, .tm = 1, .tn = 1};
  tile.k = std::min(tile.k, product.depth);
  return tile;
}

ProductSums sums_in_f64(const Workload& workload) {
  ProductSums sums = sums_of(workload);
  sums.accum = DType::kF64;
  return sums;
}

Expr as_f64(DType type, Expr value) {
  if (type == DType::kF64) return value;
  if (type == DType::kF32 || is_integer(type)) return cast(DType::kF64, value);
  return cast(DType::kF64, cast(DType::kF32, value));
}

class Lowering {
 public:
  Lowering(const Workload& workload, Target target, const PlainProduct& product, const Tile& tile)
      : p_(product), t_(tile), halves_(is_gated(workload.epilogue) ? 2 : 1) {
    b_.kernel.name = "plain";
    b_.kernel.target = target;
    b_.kernel.min_blocks_per_core = 1;  // else ptxas spills on sm_100 and sm_110 to have more (NVRTC 13.0)
    const std::vector<TensorSpec> tensors = tensors_of(workload);
    a_type_ = tensors[0].type;
    b_type_ = tensors[1].type;
    a_ = b_.param(tensors[0].name, a_type_, tensors[0].elements, Direction::kIn);
    w_ = b_.param(tensors[1].name, b_type_, tensors[1].elements, Direction::kIn);
    epilogue_ = FusedEpilogue(b_, workload, sums_in_f64(workload));
    expected_ = b_.param("expected", DType::kF32, tensors[2].elements, Direction::kOut);
    bands_ = b_.param("bands", DType::kS32, bands(), Direction::kIn);
    const auto held = [&](const char* name, Scope scope, std::int64_t elements) {
      return b_.buffer(name, DType::kF64, scope, elements);
    };
    a_tile_ = held("a_tile", Scope::kShared, t_.k * stride(t_.rows()));
    b_tile_ = held("b_tile", Scope::kShared, t_.k * stride(t_.columns()));
    a_held_ = held("a_held", Scope::kRegister, t_.tm);
    b_held_ = held("b_held", Scope::kRegister, t_.tn);
    acc_ = held("acc", Scope::kRegister, t_.tm * t_.tn);
    if (pools()) joined_ = held("joined", Scope::kRegister, t_.tm * t_.tn);
    b_.make_vars({{block_, "block"},
                  {slot_, "slot"},
                  {thread_, "thread"},
                  {band_, "band"},
                  {row0_, "row0"},
                  {column0_, "column0"},
                  {row_in_, "row_in"},
                  {column_in_, "column_in"},
                  {i_, "i"},
                  {j_, "j"}});
    if (p_.matrices > 1) place_.matrix = var(band_) / bands_of_matrix();
    if (p_.groups > 1) place_.group = var(block_) / blocks_of_group();
  }

  std::int64_t bands() const { return p_.matrices * bands_of_matrix(); }
  std::int64_t blocks() const { return p_.groups * blocks_of_group(); }

  Kernel kernel() {
    Block body =
        block(Let{band_, load(bands_, var(slot_))}, Let{row0_, var(band_) % bands_of_matrix() * t_.rows()},
              Let{column0_, var(block_) % blocks_of_group() * outputs()},
              Let{row_in_, var(thread_) / t_.lanes_n}, Let{column_in_, var(thread_) % t_.lanes_n});
    for (const BufferId buffer : {a_tile_, b_tile_, acc_}) body.push_back(Alloc{buffer});
    if (pools()) {
      append(body, pooled_sums());
    } else {
      append(body, sums());
    }
    body.push_back(write());
    body = block(loop(thread_, t_.threads(), LoopKind::kThreadX, body));
    body = block(loop(slot_, bands(), LoopKind::kBlockY, body));
    b_.kernel.body = block(loop(block_, blocks(), LoopKind::kBlockX, body));
    return std::move(b_.kernel);
  }

 private:
  bool pools() const { return p_.window > 1; }
  std::int64_t bands_of_matrix() const { return ceil_div(p_.rows, t_.rows()); }
  /// Return the columns of the output: of a group, and of a block.
  std::int64_t output_columns() const { return p_.columns / halves_; }
  std::int64_t outputs() const { return t_.columns() / halves_; }
  std::int64_t blocks_of_group() const { return ceil_div(output_columns(), outputs()); }
  /// Returns the distance of a tile's lines: odd, so that threads along k use different banks.
  static std::int64_t stride(std::int64_t elements) { return elements + 1; }

  /// Returns base + at. Beyond `extent` it is the last element again, so that it may be read.
  static Expr within(const Expr& base, const Expr& at, std::int64_t tile, std::int64_t extent) {
    if (extent % tile == 0) return base + at;
    return base + min(at, integer(extent - 1) - base);
  }

  Block sums() {
    const VarId tile = b_.var("tile");
    Block body = stage(a_tile_, t_.rows(), p_.a_along_k, tile, [&](const Expr& k, const Expr& x) {
      const PlainElement element = p_.a(place_, within(var(row0_), x, t_.rows(), p_.rows), k);
      const Expr value = as_f64(a_type_, load(a_, element.index));
      return element.inside ? select(*element.inside, value, zero(DType::kF64)) : value;
    });
    append(body, stage(b_tile_, t_.columns(), p_.b_along_k, tile, [&](const Expr& k, const Expr& x) {
             const Expr in_half = halves_ == 1 ? x : x % outputs(),
                        half = halves_ == 1 ? integer(0) : x / outputs();
             const Expr output = within(var(column0_), in_half, outputs(), output_columns());
             return as_f64(b_type_, load(w_, p_.b(place_, k, sum_column(output, half))));
           }));
    body.push_back(Barrier{});
    append(body, multiply());
    body.push_back(Barrier{});
    return block(over_sums(block(Store{acc_, sum(), zero(DType::kF64), 1, std::nullopt})),
                 loop(tile, ceil_div(p_.depth, t_.k), LoopKind::kSerial, body));
  }

  /// Returns the column of the sums that makes this half of an output's.
  Expr sum_column(const Expr& output, const Expr& half) const { return output * halves_ + half; }

  /// Loads `width` elements for each k of tile number `tile`; beyond the last k they are zero.
  template <typename Value>
  Block stage(BufferId to, std::int64_t width, bool along_k, VarId tile, const Value& value) {
    const std::int64_t count = width * t_.k, inner = along_k ? t_.k : width;
    const Unrolled part(b_, "part", ceil_div(count, t_.threads()));
    const VarId k_in = b_.var("k_in"), x_in = b_.var("x_in");
    const bool lines = t_.threads() % inner == 0;
    const Expr number = var(thread_) + part.at * t_.threads();
    const Expr fast = lines ? var(thread_) % inner : number % inner;
    const Expr slow = lines ? var(thread_) / inner + part.at * (t_.threads() / inner) : number / inner;
    const Expr k = var(tile) * t_.k + var(k_in);
    Expr element = value(k, var(x_in));
    if (p_.depth % t_.k != 0) element = select(lt(k, integer(p_.depth)), element, zero(DType::kF64));
    Block body = block(Let{k_in, along_k ? fast : slow}, Let{x_in, along_k ? slow : fast},
                       Store{to, var(k_in) * stride(width) + var(x_in), element, 1, std::nullopt});
    if (count % t_.threads() != 0) body = block(If{lt(number, integer(count)), body, {}});
    return part.over(body);
  }

  Block multiply() {
    const VarId k = b_.var("k");
    const Expr a = var(k) * stride(t_.rows()) + var(row_in_) + var(i_) * t_.lanes_m;
    const Expr b = var(k) * stride(t_.columns()) + var(column_in_) + var(j_) * t_.lanes_n;
    const Expr product = fma(load(a_held_, var(i_)), load(b_held_, var(j_)), load(acc_, sum()));
    return block(Alloc{a_held_}, Alloc{b_held_},
                 loop(k, t_.k, LoopKind::kSerial,
                      block(loop(i_, t_.tm, LoopKind::kUnrolled,
                                 block(Store{a_held_, var(i_), load(a_tile_, a), 1, std::nullopt})),
                            loop(j_, t_.tn, LoopKind::kUnrolled,
                                 block(Store{b_held_, var(j_), load(b_tile_, b), 1, std::nullopt})),
                            over_sums(block(Store{acc_, sum(), product, 1, std::nullopt})))));
  }

  /// Computes the sums of each pixel of the windows, one pixel after the other.
  Block pooled_sums() {
    const VarId row = b_.var("window_row"), column = b_.var("window_column");
    place_.window_row = var(row);
    place_.window_column = var(column);
    Block body = sums();
    const Expr in_block = var(column_in_) + var(j_) * t_.lanes_n;
    const Expr pixel = epilogue_.of(
        load(acc_, sum()),
        {.channel = channel(within(var(column0_), in_block, outputs(), output_columns()), integer(0))});
    body.push_back(over_sums(
        block(Store{joined_, sum(), epilogue_.joined(load(joined_, sum()), pixel), 1, std::nullopt})));
    return block(
        Alloc{joined_},
        over_sums(block(Store{joined_, sum(), Float{epilogue_.before_any(), DType::kF64}, 1, std::nullopt})),
        loop(row, p_.window, LoopKind::kSerial, block(loop(column, p_.window, LoopKind::kSerial, body))));
  }

  Expr sum() const { return var(i_) * t_.tn + var(j_); }
  Stmt over_sums(Block body) const {
    return loop(i_, t_.tm, LoopKind::kUnrolled, block(loop(j_, t_.tn, LoopKind::kUnrolled, body)));
  }
  /// Returns the column of this thread's output number `j`, in the group.
  Expr output_column(const Expr& j) const { return var(column0_) + var(column_in_) + j * t_.lanes_n; }
  Expr channel(const Expr& output, const Expr& half) const {
    return place_.group * p_.columns + sum_column(output, half);
  }

  Stmt write() {
    const Expr row = var(row_in_) + var(i_) * t_.lanes_m, column = output_column(var(j_));
    const Expr element = p_.output(place_, var(row0_) + row, column);
    const auto value = [&](std::int64_t half) {
      const Expr at = sum() + half * (t_.tn / halves_);
      if (pools()) return epilogue_.of_joined(load(joined_, at), p_.window * p_.window, 1);
      return epilogue_.of(load(acc_, at), {.channel = channel(column, integer(half)), .element = element});
    };
    const Expr result = epilogue_.gated() ? epilogue_.gate(value(0), value(1)) : value(0);
    Block body = block(Store{expected_, element, cast(DType::kF32, result), 1, std::nullopt});
    if (p_.rows % t_.rows() != 0) body = block(If{lt(row, integer(p_.rows) - var(row0_)), body, {}});
    if (output_columns() % outputs() != 0) body = block(If{lt(column, integer(output_columns())), body, {}});
    return loop(i_, t_.tm, LoopKind::kUnrolled, block(loop(j_, t_.tn / halves_, LoopKind::kUnrolled, body)));
  }

  const PlainProduct& p_;
  Tile t_;
  std::int64_t halves_;
  KernelBuilder b_;
  FusedEpilogue epilogue_;
  PlainPlace place_;
  DType a_type_{}, b_type_{};
  BufferId a_{}, w_{}, expected_{}, bands_{};
  BufferId a_tile_{}, b_tile_{}, a_held_{}, b_held_{}, acc_{}, joined_{};
  VarId block_{}, slot_{}, thread_{}, band_{}, row0_{}, column0_{}, row_in_{}, column_in_{}, i_{}, j_{};
};

}  // namespace

std::optional<PlainKernel> plain_kernel(const Workload& workload, const Limits& limits) {
  if (!limits.target.has(Feature::kBlocks)) return std::nullopt;
  const std::vector<TensorSpec> tensors = tensors_of(workload);
  // A device makes its inputs from one table for each type; and this has no epilogue for integers.
  for (const TensorSpec& tensor : tensors)
    if (tensor.draw != usual_draw(tensor.type)) return std::nullopt;
  for (const TensorSpec& tensor : tensors)
    if (is_8_bit_float(tensor.type) && !tensor.is_output() && !limits.has(Ability::kMmaF8))
      return std::nullopt;
  const std::optional<PlainProduct> product = plain_product(workload);
  if (!product) return std::nullopt;
  const Tile tile = tile_for(*product);
  Lowering lowering(workload, limits.target, *product, tile);
  PlainKernel plain;
  plain.band_rows = tile.rows();
  plain.bands = lowering.bands();
  plain.kernel = lowering.kernel();
  return plain;
}

}  // namespace lehr
