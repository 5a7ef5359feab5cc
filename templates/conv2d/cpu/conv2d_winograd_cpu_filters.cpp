#include "templates/conv2d/cpu/conv2d_winograd_cpu_filters.h"

#include <utility>

namespace lehr {

using namespace ir;

Block winograd_filters(KernelBuilder& builder, const Conv2d& conv, const WinogradCpuShape& shape,
                       const Winograd& algorithm, BufferId f, BufferId u) {
  const std::int64_t inputs = algorithm.inputs(), products = algorithm.products();
  const bool nhwc = conv.layout == ImageLayout::kNhwc;
  const VarId panel = builder.var("u_panel"), c = builder.var("u_c"), column = builder.var("u_column"),
              k = builder.var("u_k"), product = builder.var("u_product");
  const BufferId half = builder.buffer("g_half", DType::kF32, Scope::kRegister, inputs * 3);
  const auto u_at = [&](const Expr& of) {
    return ((of * shape.panels + var(panel)) * conv.c + var(c)) * shape.nr + var(column);
  };
  const auto put = [](BufferId to, Expr index, Expr value) {
    return Stmt(Store{to, index, value, 1, std::nullopt});
  };
  Block body = block(Alloc{half});
  for (std::int64_t i = 0; i < inputs; ++i)
    for (std::int64_t j = 0; j < 3; ++j) {
      const auto tap = [&](std::size_t q) {
        const std::int64_t number = static_cast<std::int64_t>(q) * 3 + j;
        return load(f,
                    nhwc ? (var(k) * 9 + number) * conv.c + var(c) : (var(k) * conv.c + var(c)) * 9 + number);
      };
      body.push_back(
          put(half, integer(i * 3 + j), combine(algorithm.filter[static_cast<std::size_t>(i)], tap, 1)));
    }
  for (std::int64_t i = 0; i < inputs; ++i)
    for (std::int64_t j = 0; j < inputs; ++j) {
      const auto value = [&](std::size_t q) {
        return load(half, integer(i * 3 + static_cast<std::int64_t>(q)));
      };
      body.push_back(put(u, u_at(integer(i * inputs + j)),
                         combine(algorithm.filter[static_cast<std::size_t>(j)], value, 1)));
    }
  if (conv.k % shape.nr != 0) {
    Block nothing = block(
        loop(product, products, LoopKind::kSerial, block(put(u, u_at(var(product)), Float{0, DType::kF32}))));
    body = block(If{lt(var(k), integer(conv.k)), body, nothing});
  }
  body.push_front(Let{k, var(panel) * shape.nr + var(column)});
  return block(loop(
      panel, shape.panels, LoopKind::kParallel,
      block(loop(c, conv.c, LoopKind::kSerial, block(loop(column, shape.nr, LoopKind::kSerial, body))))));
}

}  // namespace lehr
