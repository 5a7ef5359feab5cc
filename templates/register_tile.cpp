#include "templates/register_tile.h"

#include "templates/cpu_common.h"

namespace lehr::cpu {

using namespace ir;

RegisterTile::RegisterTile(KernelBuilder& builder, std::int64_t rows, std::int64_t columns,
                           std::int64_t lanes)
    : rows_(rows),
      lanes_(lanes),
      vectors_(ceil_div(columns, lanes)),
      last_active_(columns - (vectors_ - 1) * lanes) {
  const int width = static_cast<int>(lanes);
  acc_ = builder.buffer("acc", DType::kF32, Scope::kRegister, rows * vectors_ * lanes, width);
  b_reg_ = builder.buffer("b_reg", DType::kF32, Scope::kRegister, vectors_ * lanes, width);
  i_ = builder.var("i");
  j_ = builder.var("j");
}

std::int64_t RegisterTile::lines() const {
  return ceil_div(vectors_ * lanes_, kLineFloats);
}

Stmt RegisterTile::over_rows(Block body) const {
  return loop(i_, rows_, LoopKind::kUnrolled, std::move(body));
}

Block RegisterTile::per_vector(const Make& make) const {
  const auto looped = [&](std::int64_t count, std::optional<Expr> active) {
    return loop(j_, count, LoopKind::kUnrolled, block(make(var(j_) * lanes_, std::move(active))));
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
  return active ? load_active(buffer, std::move(index), width, std::move(*active))
                : load(buffer, std::move(index), width);
}

Stmt RegisterTile::clear() const {
  const int width = static_cast<int>(lanes_);
  return over_rows(block(
      loop(j_, vectors_, LoopKind::kUnrolled,
           block(Store{acc_, acc_at(var(j_) * lanes_), zero(DType::kF32, width), width, std::nullopt}))));
}

Stmt RegisterTile::load_c(BufferId c, const At& at) const {
  return over_rows(per_vector([&](Expr column, std::optional<Expr> active) {
    return Stmt(Store{acc_, acc_at(column), vector_at(c, at(column), std::move(active)),
                      static_cast<int>(lanes_), std::nullopt});
  }));
}

Stmt RegisterTile::store_c(BufferId c, const At& at) const {
  return store_c(c, at, [](Expr sums, Expr, std::optional<Expr>) { return sums; });
}

Stmt RegisterTile::store_c(BufferId c, const At& at, const Finish& finish) const {
  const int width = static_cast<int>(lanes_);
  return over_rows(per_vector([&](Expr column, std::optional<Expr> active) {
    Expr value = finish(load(acc_, acc_at(column), width), column, active);
    return Stmt(Store{c, at(column), std::move(value), width, std::move(active)});
  }));
}

Block RegisterTile::load_b(BufferId b, const At& at, bool masked) const {
  const int width = static_cast<int>(lanes_);
  if (!masked) {
    return block(loop(
        j_, vectors_, LoopKind::kUnrolled,
        block(Store{b_reg_, var(j_) * lanes_, load(b, at(var(j_) * lanes_), width), width, std::nullopt})));
  }
  return per_vector([&](Expr column, std::optional<Expr> active) {
    return Stmt(Store{b_reg_, column, vector_at(b, at(column), std::move(active)), width, std::nullopt});
  });
}

Stmt RegisterTile::prefetch_b(BufferId b, std::int64_t lines, const At& at) const {
  return loop(j_, lines, LoopKind::kUnrolled,
              block(Intrinsic{"prefetch", {Touch{b, at(var(j_) * kLineFloats), kLineFloats, false}}, {}, 0}));
}

Stmt RegisterTile::multiply_add(Expr a) const {
  const int width = static_cast<int>(lanes_);
  return over_rows(
      block(loop(j_, vectors_, LoopKind::kUnrolled,
                 block(Store{acc_, acc_at(var(j_) * lanes_),
                             fma(splat(std::move(a), width), load(b_reg_, var(j_) * lanes_, width),
                                 load(acc_, acc_at(var(j_) * lanes_), width)),
                             width, std::nullopt}))));
}

}  // namespace lehr::cpu
