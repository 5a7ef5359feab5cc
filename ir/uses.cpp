#include "ir/uses.h"

#include <optional>
#include <utility>

#include "base/overloaded.h"

namespace lehr::ir {
namespace {

class Walk {
 public:
  explicit Walk(const Kernel& kernel)
      : kernel_(kernel),
        uses_{std::vector<bool>(kernel.vars.size()), std::vector<bool>(kernel.buffers.size())} {}

  // Walks backwards, because the uses of a variable or buffer come after its Let or Alloc.
  void add(const Block& statements) {
    for (std::size_t i = statements.size(); i > 0; --i)
      ir::visit(statements[i - 1], [&](const auto& node) { visit(node); });
  }
  Uses take() { return std::move(uses_); }

 private:
  void visit(const For& loop) {
    add(loop.body);
    add(loop.extent);
  }
  void visit(const Store& store) {
    add(store.buffer);
    add(store.index);
    add(store.value);
    if (store.active) add(*store.active);
  }
  void visit(const If& branch) {
    add(branch.then);
    add(branch.otherwise);
    add(branch.condition);
  }
  void visit(const Let& let) {
    if (uses_.vars[static_cast<std::size_t>(let.var)]) add(let.value);
  }
  void visit(const Alloc& alloc) {
    const std::optional<BufferId>& place = kernel_.buffer(alloc.buffer).in_place_of;
    if (place && uses_.buffers[static_cast<std::size_t>(alloc.buffer)]) add(*place);
  }
  void visit(const Barrier&) {}
  void visit(const Intrinsic& intrinsic) {
    for (const Touch& touch : intrinsic.touches) {
      add(touch.buffer);
      add(touch.index);
    }
    for (const Expr& arg : intrinsic.args) add(arg);
  }

  void add(BufferId buffer) { uses_.buffers[static_cast<std::size_t>(buffer)] = true; }
  void add(const Expr& expr) {
    expr.visit(overloaded{[](const Int&) {}, [](const Float&) {},
                          [&](const Var& var) { uses_.vars[static_cast<std::size_t>(var.id)] = true; },
                          [&](const Binary& e) {
                            add(e.a);
                            add(e.b);
                          },
                          [&](const Unary& e) { add(e.value); },
                          [&](const Load& e) {
                            add(e.buffer);
                            add(e.index);
                            if (e.active) add(*e.active);
                          },
                          [&](const Splat& e) { add(e.value); },
                          [&](const Fma& e) {
                            add(e.a);
                            add(e.b);
                            add(e.c);
                          },
                          [&](const Reduce& e) { add(e.value); }, [&](const Cast& e) { add(e.value); },
                          [&](const Select& e) {
                            add(e.condition);
                            add(e.a);
                            add(e.b);
                          }});
  }

  const Kernel& kernel_;
  Uses uses_;
};

}  // namespace

Uses uses_of(const Kernel& kernel, const Block& block) {
  Walk walk(kernel);
  walk.add(block);
  return walk.take();
}

}  // namespace lehr::ir
