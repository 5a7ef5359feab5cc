#include "measure/vendor/onednn/onednn_gemm.h"

#include <memory>
#include <utility>

#include "measure/vendor/onednn/onednn_primitives.h"

namespace lehr::onednn {
namespace {

/// A matrix's strides from row to row and from column to column.
struct Strides {
  std::int64_t row = 1, column = 1;
};
Strides strides_of(const Operand& operand, std::int64_t rows, std::int64_t columns) {
  return operand.layout == Layout::kRow ? Strides{columns, 1} : Strides{1, rows};
}

struct Tensors {
  MemoryDesc a, b, any_b, c;
};

/// False where the library refuses one.
bool describe_batch(const Api& api, const Gemm& g, Tensors& t) {
  const auto plain = [&](MemoryDesc& md, const Operand& operand, std::int64_t rows, std::int64_t columns) {
    const Strides s = strides_of(operand, rows, columns);
    return api.md_by_strides(&md, 3, Dims{g.batch, rows, columns}, kF32,
                             Dims{rows * columns, s.row, s.column}) == 0;
  };
  return plain(t.a, g.a, g.m, g.k) && plain(t.b, g.b, g.k, g.n) && plain(t.c, g.c, g.m, g.n) &&
         api.md_by_tag(&t.any_b, 3, Dims{g.batch, g.k, g.n}, kF32, kTagAny) == 0;
}

// As matrices without a batch, for which the library has more layouts; its weights are n x k for the inner
// product.
bool describe_one(const Api& api, const Gemm& g, bool transposed_b, Tensors& t) {
  const Strides a = strides_of(g.a, g.m, g.k), b = strides_of(g.b, g.k, g.n), c = strides_of(g.c, g.m, g.n);
  const Dims b_dims = transposed_b ? Dims{g.n, g.k} : Dims{g.k, g.n};
  const Dims b_strides = transposed_b ? Dims{b.column, b.row} : Dims{b.row, b.column};
  return api.md_by_strides(&t.a, 2, Dims{g.m, g.k}, kF32, Dims{a.row, a.column}) == 0 &&
         api.md_by_strides(&t.b, 2, b_dims, kF32, b_strides) == 0 &&
         api.md_by_strides(&t.c, 2, Dims{g.m, g.n}, kF32, Dims{c.row, c.column}) == 0 &&
         api.md_by_tag(&t.any_b, 2, b_dims, kF32, kTagAny) == 0;
}

}  // namespace

std::vector<Way> packed_gemm_ways(void* library, const Gemm& gemm, float* a, float* b, float* c) {
  const auto s = std::make_shared<Primitives>(library);
  const void* const attributes = gemm.alpha == 1 ? nullptr : s->scaled(gemm.alpha);
  std::vector<Way> ways;
  for (const bool inner_product : {false, true}) {
    if (inner_product && gemm.batch > 1) continue;
    if (gemm.alpha != 1 && attributes == nullptr) continue;
    Tensors t;
    if (!(gemm.batch > 1 ? describe_batch(s->api(), gemm, t)
                         : describe_one(s->api(), gemm, inner_product, t)))
      continue;
    OperationDesc operation;
    const int status =
        inner_product ? s->api().inner_product(&operation, kForwardInference, &t.a, &t.any_b, nullptr, &t.c)
                      : s->api().matmul(&operation, &t.a, &t.any_b, nullptr, &t.c);
    if (status != 0) continue;
    const Primitives::Primitive made = s->primitive(operation, attributes);
    if (made.primitive == nullptr) continue;
    std::vector<Step> once, steps, last;
    void* const weights = s->adapted(t.b, b, made, kWeightsMd, false, once);
    void* const input = s->adapted(t.a, a, made, kSrcMd, false, steps);
    void* const output = s->adapted(t.c, c, made, kDstMd, true, last);
    if (weights == nullptr || input == nullptr || output == nullptr) continue;
    s->run(once);
    steps.push_back({made.primitive, {{kArgSrc, input}, {kArgWeights, weights}, {kArgDst, output}}});
    steps.insert(steps.end(), last.begin(), last.end());
    ways.push_back({inner_product ? "packed inner product" : "packed matmul",
                    [s, all = std::move(steps)] { s->run(all); }});
  }
  return ways;
}

}  // namespace lehr::onednn
