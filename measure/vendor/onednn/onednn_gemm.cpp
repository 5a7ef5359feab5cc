#include "measure/vendor/onednn/onednn_gemm.h"

#include "measure/vendor/onednn/onednn_epilogue.h"

namespace lehr::onednn {
namespace {

/// Distances in elements between neighbouring rows and between neighbouring columns of a matrix.
struct Strides {
  std::int64_t row = 1, column = 1;
};
Strides strides_of(const Operand& operand, std::int64_t rows, std::int64_t columns) {
  return operand.layout == Layout::kRow ? Strides{columns, 1} : Strides{1, rows};
}

/// Descriptions of the matrices as they lie in memory, and of B with a layout that the primitive chooses.
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

// Describes matrices without a batch dimension, for which the library has more layouts. For the inner product
// its weights are n x k.
Tensors describe_one(Primitives& primitives, const Gemm& g, bool transposed_b) {
  const Strides a = strides_of(g.a, g.m, g.k), b = strides_of(g.b, g.k, g.n), c = strides_of(g.c, g.m, g.n);
  const Dims b_dims = transposed_b ? Dims{g.n, g.k} : Dims{g.k, g.n};
  const Dims b_strides = transposed_b ? Dims{b.column, b.row} : Dims{b.row, b.column};
  return {primitives.strided(g.a.type, {g.m, g.k}, {a.row, a.column}),
          primitives.strided(g.b.type, b_dims, b_strides),
          primitives.strided(g.c.type, {g.m, g.n}, {c.row, c.column}), primitives.any(g.b.type, b_dims)};
}

ChannelView channels_of(const Gemm& g, bool inner_product) {
  if (inner_product) return {{g.n}, 1 << 0};
  if (g.batch > 1) return {{1, 1, g.n}, 1 << 2};
  return {{1, g.n}, 1 << 1};
}

}  // namespace

std::vector<Algorithm> gemm_algorithms(const std::shared_ptr<Primitives>& primitives,
                                       const Workload& workload, std::span<void* const> pointers) {
  const Gemm& gemm = workload.gemm();
  const bool batched = gemm.batch > 1;
  std::vector<Algorithm> algorithms;
  const std::string packed = gemm.b.constant ? "packed " : "";
  for (const bool inner_product : {false, true}) {
    if (inner_product && batched) continue;
    const Tensors t =
        batched ? describe_batch(*primitives, gemm) : describe_one(*primitives, gemm, inner_product);
    const auto output = [&](DType type) {
      Gemm other = gemm;
      other.c.type = type;
      return batched ? describe_batch(*primitives, other).c : describe_one(*primitives, other, false).c;
    };
    Extras extras = extras_of(*primitives, workload, pointers, channels_of(gemm, inner_product), output);
    if (gemm.alpha != 1) extras.post_ops.insert(extras.post_ops.begin(), {kLinear, gemm.alpha, 0});
    const std::optional<const void*> attributes = primitives->attributes(extras);
    if (!attributes) continue;
    const Operands operands = {t.a, gemm.b.constant ? t.any_b : t.b, t.c, extras.bias.desc};
    const Primitive primitive = inner_product ? primitives->inner_product(operands, *attributes)
                                              : primitives->matmul(operands, *attributes);
    add_algorithm(algorithms, primitives, packed + (inner_product ? "inner product" : "matmul"), primitive,
                  {t.a, pointers[0]}, {t.b, pointers[1]}, {t.c, pointers[2]}, extras);
  }
  return algorithms;
}

}  // namespace lehr::onednn
