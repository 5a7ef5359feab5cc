// Which variables and buffers of a kernel anything uses.
#include "ir/uses.h"

#include <gtest/gtest.h>

namespace lehr::ir {
namespace {

// for block: let a = block; let b = a + 1; let c = b; for i: out[i] = i > d ? in[e] : 0
TEST(Uses, LeavesOutLetsThatOnlySuchLetsRead) {
  KernelBuilder builder;
  builder.kernel.target = Target::kCuda;
  const BufferId in = builder.param("in", DType::kF32, 8, Direction::kIn);
  const BufferId out = builder.param("out", DType::kF32, 8, Direction::kOut);
  VarId block_id{}, a{}, b{}, c{}, d{}, e{}, i{};
  builder.make_vars({{block_id, "block"}, {a, "a"}, {b, "b"}, {c, "c"}, {d, "d"}, {e, "e"}, {i, "i"}});
  const Expr value = select(lt(var(d), var(i)), load(in, var(e)), zero(DType::kF32));
  Block body =
      block(Let{a, var(block_id)}, Let{b, var(a) + 1}, Let{c, var(b)}, Let{d, integer(3)}, Let{e, var(d) + 1},
            loop(i, 8, LoopKind::kSerial, block(Store{out, var(i), value, 1, std::nullopt})));
  builder.kernel.body = block(loop(block_id, 2, LoopKind::kBlockX, body));
  EXPECT_EQ(uses_of(builder.kernel, builder.kernel.body).vars,
            (std::vector<bool>{false, false, false, false, true, true, true}));
}

TEST(Uses, LooksIntoConditionsExtentsCountsTouchesAndArguments) {
  KernelBuilder builder;
  const BufferId in = builder.param("in", DType::kF32, 8, Direction::kIn);
  const BufferId out = builder.param("out", DType::kF32, 8, Direction::kOut);
  VarId condition{}, extent{}, active{}, touch{}, argument{}, otherwise{}, i{};
  builder.make_vars({{condition, "condition"},
                     {extent, "extent"},
                     {active, "active"},
                     {touch, "touch"},
                     {argument, "argument"},
                     {otherwise, "otherwise"},
                     {i, "i"}});
  const Stmt prefetch = Intrinsic{"prefetch", {Touch{in, var(touch), 1, false}}, {var(argument)}, 0};
  const Stmt store = Store{out, var(otherwise), load_active(in, integer(0), 4, var(active)), 4, std::nullopt};
  builder.kernel.body =
      block(loop_to(i, var(extent), 4, block(If{var(condition), block(prefetch), block(store)})));
  EXPECT_EQ(uses_of(builder.kernel, builder.kernel.body).vars,
            (std::vector<bool>{true, true, true, true, true, true, false}));
}

TEST(Uses, CountsTheBuffersOfOneBlockAndThoseThatOthersLieInPlaceOf) {
  KernelBuilder builder;
  const BufferId in = builder.param("in", DType::kF32, 8, Direction::kIn);
  const BufferId out = builder.param("out", DType::kF32, 8, Direction::kOut);
  const BufferId place = builder.buffer("place", DType::kF32, Scope::kShared, 8);
  const BufferId inside = builder.buffer("inside", DType::kF32, Scope::kShared, 4);
  const BufferId unused = builder.buffer("unused", DType::kF32, Scope::kRegister, 4);
  builder.kernel.buffers[static_cast<std::size_t>(inside)].in_place_of = place;
  builder.kernel.body = block(Alloc{place}, Alloc{inside}, Alloc{unused},
                              Store{out, integer(0), load(inside, integer(0)), 1, std::nullopt});
  builder.kernel.prepack = block(Store{out, integer(0), load(in, integer(0)), 1, std::nullopt});
  EXPECT_EQ(uses_of(builder.kernel, builder.kernel.body).buffers,
            (std::vector<bool>{false, true, true, true, false}));
  EXPECT_EQ(uses_of(builder.kernel, builder.kernel.prepack).buffers,
            (std::vector<bool>{true, true, false, false, false}));
}

}  // namespace
}  // namespace lehr::ir
