#include "templates/shared/register_tile.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "templates/shared/cpu_common.h"

namespace lehr::cpu {

using namespace ir;

namespace {

constexpr std::int64_t kRegisters = 16;  // of x86 without AVX-512

}  // namespace

bool streams_b(std::int64_t rows, std::int64_t vectors) {
  return rows * vectors + std::min<std::int64_t>(vectors, 4) + 1 > kRegisters &&
         rows * vectors + rows + 1 <= kRegisters;
}

RegisterTile::RegisterTile(KernelBuilder& builder, std::int64_t rows, std::int64_t columns,
                           std::int64_t lanes, const DotForm& form)
    : form_(form),
      rows_(rows),
      lanes_(lanes),
      vectors_(ceil_div(columns, lanes)),
      last_active_(columns - (vectors_ - 1) * lanes) {
  const int width = static_cast<int>(lanes);
  acc_ = builder.buffer("acc", form.sums, Scope::kRegister, rows * vectors_ * lanes, width);
  b_reg_ = builder.buffer("b_reg", form.second_panel, Scope::kRegister, vectors_ * lanes * form.group,
                          width * static_cast<int>(form.group));
  i_ = builder.var("i");
  j_ = builder.var("j");
}

std::int64_t RegisterTile::lines() const {
  return ceil_div(vectors_ * lanes_, kLineFloats);
}

Stmt RegisterTile::over_rows(Block body) const {
  return loop(i_, rows_, LoopKind::kUnrolled, body);
}

Stmt RegisterTile::over_stored_rows(Block body) const {
  if (last_row_) body = block(If{le(var(i_), *last_row_), std::move(body), {}});
  return over_rows(std::move(body));
}

Block RegisterTile::per_vector(const Make& make) const {
  const auto looped = [&](std::int64_t count, std::optional<Expr> active) {
    return loop(j_, count, LoopKind::kUnrolled, block(make(var(j_) * lanes_, active)));
  };
  if (columns_left_) return block(looped(vectors_, *columns_left_ - var(j_) * lanes_));
  if (last_active_ == lanes_) return block(looped(vectors_, std::nullopt));
  Block result;
  if (vectors_ > 1) result.push_back(looped(vectors_ - 1, std::nullopt));
  result.push_back(make(integer((vectors_ - 1) * lanes_), integer(last_active_)));
  return result;
}

Expr RegisterTile::vector_at(BufferId buffer, Expr index, std::optional<Expr> active) const {
  const int width = static_cast<int>(lanes_);
  return active ? load_active(buffer, index, width, *active) : load(buffer, index, width);
}

Stmt RegisterTile::clear(const At& first) const {
  const int width = static_cast<int>(lanes_);
  const Expr column = var(j_) * lanes_;
  const Expr value = first ? first(column) : zero(form_.sums, width);
  return over_rows(block(loop(j_, vectors_, LoopKind::kUnrolled,
                              block(Store{acc_, acc_at(column), value, width, std::nullopt}))));
}

Stmt RegisterTile::load_c(BufferId c, const At& at) const {
  return over_rows(per_vector([&](Expr column, std::optional<Expr> active) {
    return Stmt(Store{acc_, acc_at(column), vector_at(c, at(column), active), static_cast<int>(lanes_),
                      std::nullopt});
  }));
}

Stmt RegisterTile::store_c(BufferId c, const At& at) const {
  return store_c(c, at, [](Expr sums, Expr, std::optional<Expr>) { return sums; });
}

Stmt RegisterTile::store_c(BufferId c, const At& at, const Finish& finish) const {
  const int width = static_cast<int>(lanes_);
  return over_stored_rows(per_vector([&](Expr column, std::optional<Expr> active) {
    Expr value = finish(load(acc_, acc_at(column), width), column, active);
    return Stmt(Store{c, at(column), value, width, active});
  }));
}

Stmt RegisterTile::store_pairs(KernelBuilder& builder, BufferId c, const At& at, const Finish& finish,
                               const Gate& gate) const {
  const int width = static_cast<int>(lanes_);
  const BufferId sums = builder.buffer("pairs", DType::kF32, Scope::kRegister, 2 * lanes_, width);
  const BufferId even = builder.buffer("even", DType::kF32, Scope::kRegister, lanes_, width);
  const BufferId odd = builder.buffer("odd", DType::kF32, Scope::kRegister, lanes_, width);
  // Stores two vectors from number `first` on, or one vector and zeros. `last` is the number of lanes that
  // exist in the last vector, `active` the number of lanes that exist in the result.
  const auto step = [&](const Expr& first, std::int64_t count, const std::optional<Expr>& last,
                        std::optional<Expr> active) {
    Block body = block(Alloc{sums}, Alloc{even}, Alloc{odd});
    for (std::int64_t v = 0; v < 2; ++v) {
      const Expr column = (first + v) * lanes_;
      std::optional<Expr> exist = columns_left_    ? std::optional<Expr>(*columns_left_ - column)
                                  : v + 1 == count ? last
                                                   : std::nullopt;
      Expr value =
          v < count ? finish(load(acc_, acc_at(column), width), column, exist) : zero(DType::kF32, width);
      body.push_back(Store{sums, integer(v * lanes_), value, width, std::nullopt});
    }
    body.push_back(Intrinsic{intrinsic_name(fmt::format("split_pairs_{}", lanes_)),
                             {Touch{even, integer(0), lanes_, true}, Touch{odd, integer(0), lanes_, true},
                              Touch{sums, integer(0), 2 * lanes_, false}},
                             {integer(2 * lanes_)},
                             0});
    Expr value = gate(load(even, integer(0), width), load(odd, integer(0), width));
    body.push_back(Store{c, at(first * (lanes_ / 2)), value, width, active});
    return body;
  };
  const bool whole = columns_left_ || last_active_ == lanes_;
  const std::int64_t pairs = (whole ? vectors_ : vectors_ - 1) / 2, rest = vectors_ - 2 * pairs;
  const auto left = [&](const Expr& first) -> std::optional<Expr> {
    if (!columns_left_) return std::nullopt;
    return *columns_left_ / 2 - first * (lanes_ / 2);
  };
  Block row;
  const Expr first = var(j_) * 2;
  if (pairs > 0)
    row.push_back(loop(j_, pairs, LoopKind::kUnrolled, step(first, 2, std::nullopt, left(first))));
  if (rest > 0) {
    const Expr behind = integer(2 * pairs);
    const std::optional<Expr> last =
        last_active_ == lanes_ ? std::nullopt : std::optional<Expr>(integer(last_active_));
    Expr active = integer(((rest - 1) * lanes_ + last_active_) / 2);
    if (columns_left_) active = min(active, *left(behind));
    append(row, step(behind, rest, last, std::move(active)));
  }
  return over_stored_rows(row);
}

Block RegisterTile::load_b(BufferId b, const At& at, bool masked) const {
  if (!masked) {
    const int width = static_cast<int>(lanes_ * form_.group);
    return block(loop(
        j_, vectors_, LoopKind::kUnrolled,
        block(Store{b_reg_, var(j_) * width, load(b, at(var(j_) * lanes_), width), width, std::nullopt})));
  }
  CHECK(form_.is_plain(), "groups of neighbours lie in panels, which are whole");
  const int width = static_cast<int>(lanes_);
  return per_vector([&](Expr column, std::optional<Expr> active) {
    return Stmt(Store{b_reg_, column, vector_at(b, at(column), active), width, std::nullopt});
  });
}

Stmt RegisterTile::hold(const Expr& column) const {
  return Intrinsic{
      intrinsic_name(fmt::format("hold_{}", lanes_)), {Touch{b_reg_, column, lanes_, false}}, {}, 0};
}

Block RegisterTile::step(KernelBuilder& builder, BufferId b, const At& at, bool masked, const Expr& a,
                         const Block& beside) const {
  const int width = static_cast<int>(lanes_);
  if (!streams_b(rows_, vectors_) || !form_.is_plain()) {
    Block result = block(Alloc{b_reg_});
    append(result, load_b(b, at, masked));
    if (rows_ * vectors_ + vectors_ + 1 == kRegisters && rows_ > 1 && form_.is_plain())
      result.push_back(loop(j_, vectors_, LoopKind::kUnrolled, block(hold(var(j_) * lanes_))));
    append(result, beside);
    result.push_back(multiply_add(a));
    return result;
  }
  const BufferId factors = builder.buffer("a_reg", DType::kF32, Scope::kRegister, rows_ * lanes_, width);
  const auto of_vector = [&](const Expr& column, const std::optional<Expr>& active) {
    return block(Store{b_reg_, column, vector_at(b, at(column), active), width, std::nullopt}, hold(column),
                 over_rows(block(Store{acc_, acc_at(column),
                                       fma(load(factors, var(i_) * lanes_, width),
                                           load(b_reg_, column, width), load(acc_, acc_at(column), width)),
                                       width, std::nullopt})));
  };
  Block result = beside;
  append(result, block(Alloc{factors}, Alloc{b_reg_}));
  result.push_back(over_rows(block(Store{factors, var(i_) * lanes_, splat(a, width), width, std::nullopt})));
  const bool ragged = masked && last_active_ != lanes_ && !columns_left_;
  const Expr column = var(j_) * lanes_;
  std::optional<Expr> exist;
  if (masked && columns_left_) exist = *columns_left_ - column;
  result.push_back(loop(j_, ragged ? vectors_ - 1 : vectors_, LoopKind::kUnrolled, of_vector(column, exist)));
  if (ragged) append(result, of_vector(integer((vectors_ - 1) * lanes_), integer(last_active_)));
  return result;
}

Stmt RegisterTile::prefetch_b(BufferId b, std::int64_t lines, const At& at) const {
  const std::int64_t line = kLineFloats * form_.group;
  return loop(j_, lines, LoopKind::kUnrolled,
              block(Intrinsic{"prefetch", {Touch{b, at(var(j_) * kLineFloats), line, false}}, {}, 0}));
}

Stmt RegisterTile::multiply_add(const Expr& a) const {
  const int width = static_cast<int>(lanes_), factors = width * static_cast<int>(form_.group);
  return over_rows(block(loop(j_, vectors_, LoopKind::kUnrolled,
                              block(Store{acc_, acc_at(var(j_) * lanes_),
                                          fma(splat(a, factors), load(b_reg_, var(j_) * factors, factors),
                                              load(acc_, acc_at(var(j_) * lanes_), width)),
                                          width, std::nullopt}))));
}

}  // namespace lehr::cpu
