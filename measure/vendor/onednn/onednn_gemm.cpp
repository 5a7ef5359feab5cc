#include "measure/vendor/onednn/onednn_gemm.h"

namespace lehr::onednn {
namespace {

/// A matrix's strides from row to row and from column to column.
struct Strides {
  std::int64_t row = 1, column = 1;
};
Strides strides_of(const Operand& operand, std::int64_t rows, std::int64_t columns) {
  return operand.layout == Layout::kRow ? Strides{columns, 1} : Strides{1, rows};
}

/// As they lie in memory, and B as a primitive likes it.
struct Tensors {
  MemoryDesc a, b, c, any_b;
};

Tensors describe_batch(Primitives& primitives, const Gemm& g) {
  const auto plain = [&](const Operand& operand, std::int64_t rows, std::int64_t columns) {
    const Strides s = strides_of(operand, rows, columns);
    return primitives.strided(operand.type, {g.batch, rows, columns}, {rows * columns, s.row, s.column});
  };
  return {plain(g.a, g.m, g.k), plain(g.b, g.k, g.n), plain(g.c, g.m, g.n),
          primitives.any(g.b.type, {g.batch, g.k, g.n})};
}

// As matrices without a batch, for which the library has more layouts; its weights are n x k for the inner
// product.
Tensors describe_one(Primitives& primitives, const Gemm& g, bool transposed_b) {
  const Strides a = strides_of(g.a, g.m, g.k), b = strides_of(g.b, g.k, g.n), c = strides_of(g.c, g.m, g.n);
  const Dims b_dims = transposed_b ? Dims{g.n, g.k} : Dims{g.k, g.n};
  const Dims b_strides = transposed_b ? Dims{b.column, b.row} : Dims{b.row, b.column};
  return {primitives.strided(g.a.type, {g.m, g.k}, {a.row, a.column}),
          primitives.strided(g.b.type, b_dims, b_strides),
          primitives.strided(g.c.type, {g.m, g.n}, {c.row, c.column}), primitives.any(g.b.type, b_dims)};
}

}  // namespace

std::vector<Way> gemm_ways(const std::shared_ptr<Primitives>& primitives, const Gemm& gemm, void* a, void* b,
                           void* c) {
  const void* const attributes = gemm.alpha == 1 ? nullptr : primitives->scaled(gemm.alpha);
  if (gemm.alpha != 1 && attributes == nullptr) return {};
  std::vector<Way> ways;
  const std::string packed = gemm.b.constant ? "packed " : "";
  for (const bool inner_product : {false, true}) {
    if (inner_product && gemm.batch > 1) continue;
    const Tensors t =
        gemm.batch > 1 ? describe_batch(*primitives, gemm) : describe_one(*primitives, gemm, inner_product);
    const Operands operands = {t.a, gemm.b.constant ? t.any_b : t.b, t.c};
    const Primitive primitive = inner_product ? primitives->inner_product(operands, attributes)
                                              : primitives->matmul(operands, attributes);
    add_way(ways, primitives, packed + (inner_product ? "inner product" : "matmul"), primitive, {t.a, a},
            {t.b, b}, {t.c, c});
  }
  return ways;
}

}  // namespace lehr::onednn
