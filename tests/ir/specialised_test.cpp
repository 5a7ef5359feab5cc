// Tests of kernels whose warps do different things, and of loads through tensor maps: what the verifier asks
// of them, and what the analysis counts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/analyze.h"
#include "ir/intrinsics.h"
#include "ir/print.h"
#include "tests/ir/sample_kernels.h"
#include "tests/support/box_elements.h"
#include "tests/support/verify.h"

namespace lehr::ir {
namespace {

using ::testing::HasSubstr;

/// 256 threads: thread 0 loads 8 boxes of 16 x 64 of an 8192-wide tensor; the last 128 threads write.
struct Specialised {
  KernelBuilder b;
  BufferId in, out, tile, barrier;
  VarId thread, kt;
  std::int64_t copiers = 1;
  Stmt extra = Intrinsic{"wgmma_fence", {}, {}, 0};

  Specialised() {
    b.kernel.name = "specialised";
    b.kernel.target = Target::kCuda;
    in = b.param("in", DType::kBF16, 16 * 8192, Direction::kIn);
    TensorMap map;
    map.dims = {8192, 16, 0};
    map.strides = {1, 8192, 0};
    map.box = {64, 16, 0};
    map.swizzle = 128;
    b.kernel.params.back().map = map;
    out = b.param("out", DType::kF32, 128, Direction::kOut);
    tile = b.buffer("tile", DType::kBF16, Scope::kShared, 16 * 64);
    b.kernel.buffers.back().alignment = 1024;
    barrier = b.buffer("barrier", DType::kU32, Scope::kShared, 4);
    thread = b.var("thread");
    kt = b.var("kt");
  }
  TensorMap& map() { return *b.kernel.params[0].map; }
  Intrinsic load() const {
    return {"tma_load_2d",
            {Touch{tile, integer(0), 16 * 64, true}, Touch{in, var(kt) * 64, 16 * 64, false, 16, 8192},
             Touch{barrier, integer(0), 0, true}},
            {integer(0), var(kt) * 64, integer(0)},
            0};
  }
  Kernel kernel() {
    const Expr warpgroup = var(thread) / 128;
    Block copy =
        block(Intrinsic{"mbarrier_expect_tx", {Touch{barrier, integer(0), 0, true}}, {integer(2048)}, 0},
              loop(kt, 8, LoopKind::kSerial, block(load())));
    Block then = block(If{eq(var(thread), integer(0)), std::move(copy), {}, copiers});
    Block otherwise = block(extra, Store{out, var(thread) - 128, Float{1, DType::kF32}, 1, std::nullopt});
    b.kernel.body =
        block(loop(thread, 256, LoopKind::kThreadX,
                   block(Alloc{tile}, Alloc{barrier},
                         If{eq(warpgroup, integer(0)), std::move(then), std::move(otherwise), 128})));
    return std::move(b.kernel);
  }
  std::string complaint() { return why_malformed(kernel()).value_or(""); }
};

TEST(Specialised, IsAnalysedByTheThreadsThatDoIt) {
  const Kernel kernel = Specialised().kernel();
  ASSERT_EQ(why_malformed(kernel), std::nullopt);
  const Analysis analysis = analyze(kernel);
  EXPECT_EQ(analysis.global.read_bytes, 8 * 16 * 64 * 2);
  EXPECT_EQ(analysis.shared.written_bytes, 8 * 16 * 64 * 2);
  EXPECT_EQ(analysis.global.written_bytes, 128 * 4);
  EXPECT_EQ(analysis.unique_global_bytes, 16 * 512 * 2 + 128 * 4);  // 16 rows, of each the first 512 elements
  EXPECT_EQ(analysis.pipeline_depth, 2);
  EXPECT_EQ(analysis.shared_bytes, 2048 + 16);
  for (const Access& access : analysis.accesses) EXPECT_FALSE(access.guarded);
}

/// All threads that read one place of shared memory find the same there.
TEST(Specialised, MayTogetherDoWhatSharedMemorySays) {
  Specialised s;
  const auto when = [&](const Expr& place) {
    return If{eq(load(s.barrier, place), integer(1)), block(Intrinsic{"wgmma_fence", {}, {}, 0}), {}, 128};
  };
  s.extra = when(integer(0));
  EXPECT_EQ(s.complaint(), "");
  Specialised other;
  other.extra = when(var(other.thread) % 4);
  EXPECT_THAT(other.complaint(), HasSubstr("the threads of a warpgroup may disagree"));
}

/// A buffer in the place of another takes no memory of its own, must fit, and exists while that one does.
TEST(Specialised, LaysABufferInPlaceOfAnother) {
  const auto with = [](DType type, std::int64_t elements, std::int64_t alignment, bool of_tile = true) {
    Specialised s;
    const BufferId upper = s.b.buffer("upper", type, Scope::kShared, elements);
    s.b.kernel.buffers.back().alignment = alignment;
    s.b.kernel.buffers.back().in_place_of = of_tile ? s.tile : s.out;
    s.extra = Alloc{upper};
    return s.kernel();
  };
  const Kernel kernel = with(DType::kF32, 16 * 32, 1024);
  EXPECT_EQ(why_malformed(kernel), std::nullopt);
  EXPECT_EQ(launch_of(kernel).shared_bytes, 2048 + 16);
  EXPECT_THAT(to_text(kernel), HasSubstr("in place of tile"));
  const auto complaint = [](const Kernel& bad) { return why_malformed(bad).value_or(""); };
  EXPECT_THAT(complaint(with(DType::kF32, 16 * 32 + 1, 1024)), HasSubstr("do not fit into the 2048 of tile"));
  EXPECT_THAT(complaint(with(DType::kF32, 16, 2048)), HasSubstr("aligned to 2048 do not fit"));
  EXPECT_THAT(complaint(with(DType::kF32, 16, 16, false)), HasSubstr("only shared memory lies in the place"));
}

/// Changes the load of a Specialised kernel.
template <typename Change>
void change_load(Kernel& kernel, Change change) {
  testing::change_nth<For>(kernel.body, 0, [&](For& threads) {
    testing::change_nth<If>(threads.body, 2, [&](If& producer) {
      testing::change_nth<If>(producer.then, 0, [&](If& one) {
        testing::change_nth<For>(one.then, 1,
                                 [&](For& steps) { testing::change_nth<Intrinsic>(steps.body, 0, change); });
      });
    });
  });
}

TEST(Specialised, HasFewerBytesWhereABoxIsPartial) {
  Specialised s;
  Kernel kernel = s.kernel();
  change_load(kernel, [](Intrinsic& load) { load.touches[1].partial = true; });
  const Analysis analysis = analyze(kernel);
  int guarded = 0;
  for (const Access& access : analysis.accesses) guarded += access.guarded ? 1 : 0;
  EXPECT_EQ(guarded, 1);
}

TEST(Specialised, IsPrintedWithItsMapAndItsThreads) {
  const std::string text = to_text(Specialised().kernel());
  EXPECT_THAT(text, HasSubstr("in in: bf16[131072] as 8192(1) x 16(8192) in boxes of 64 x 16 swizzle 128"));
  EXPECT_THAT(text, HasSubstr("if thread/128==0 (128 threads):"));
  EXPECT_THAT(text, HasSubstr("shared tile: bf16[1024] align 1024"));
  EXPECT_THAT(text, HasSubstr("read in[kt*64 : 1024] in 16 rows 8192 apart"));
}

TEST(Specialised, LetsOnlyWholeGroupsExecuteCollectives) {
  Specialised warp;  // thread / 32 decides for warps, and a warpgroup has four
  warp.extra = If{eq(var(warp.thread) / 32, integer(4)), block(Intrinsic{"wgmma_fence", {}, {}, 0}), {}};
  EXPECT_THAT(warp.complaint(),
              HasSubstr("the threads of a warpgroup may disagree on whether they reach it"));
  Specialised nested;  // (thread / 32) / 4 is thread / 128
  const VarId number = nested.b.var("warp");
  nested.extra = If{lt(integer(0), var(number) / 4), block(Intrinsic{"wgmma_fence", {}, {}, 0}), {}};
  Kernel kernel = nested.kernel();
  testing::change_nth<For>(
      kernel.body, 0, [&](For& threads) { threads.body.push_front(Let{number, var(nested.thread) / 32}); });
  EXPECT_EQ(why_malformed(kernel), std::nullopt);
  Specialised barrier;
  barrier.extra = Barrier{};
  EXPECT_THAT(barrier.complaint(), HasSubstr("threads may disagree on whether they reach it"));
}

TEST(TensorMap, KeepsTheDriversLimits) {
  const auto with = [](auto change) {
    Specialised s;
    change(s);
    return s.complaint();
  };
  EXPECT_EQ(with([](Specialised&) {}), "");
  EXPECT_THAT(with([](Specialised& s) { s.map().rank = 5; }),
              HasSubstr("has 5 dimensions, it can have 1 to 4"));
  EXPECT_THAT(with([](Specialised& s) { s.map().box[1] = 257; }),
              HasSubstr("a box of 257; a box has 1 to 256"));
  EXPECT_THAT(with([](Specialised& s) { s.map().strides[1] = 8190; }),
              HasSubstr("must be a multiple of 16 bytes"));
  EXPECT_THAT(with([](Specialised& s) { s.map().strides[0] = 2; }), HasSubstr("the innermost is 1"));
  EXPECT_THAT(with([](Specialised& s) { s.map().dims[1] = 17; }),
              HasSubstr("reaches element 139263 of 131072"));
  EXPECT_THAT(with([](Specialised& s) { s.map().box[0] = 128; }), HasSubstr("256 bytes wide"));
  EXPECT_THAT(with([](Specialised& s) { s.b.kernel.params[0].map.reset(); }),
              HasSubstr("in needs a tensor map"));
  EXPECT_THAT(with([](Specialised& s) {
                s.extra = Store{s.out, integer(0), load(s.in, integer(0)), 1, std::nullopt};
              }),
              HasSubstr("in has a tensor map and no address"));
}

/// The same 16 x 8192 elements as two images of 16 x 8 pixels with 512 channels; the load reads 16 of them.
struct OfImages : Specialised {
  OfImages() {
    map().rank = 4;
    map().dims = {512, 16, 8, 2};
    map().strides = {1, 512, 8192, 65536};
    map().box = {64, 0, 0, 0};
    map().im2col = Im2col{16, {-1, -2}, {1, 0}, {2, 1}};
  }
  std::string complaint() {
    Kernel made = kernel();
    change_load(made, [](Intrinsic& load) {
      load.name = "tma_im2col_4d";
      for (int i = 0; i < 4; ++i) load.args.push_back(integer(0));
    });
    return why_malformed(made).value_or("");
  }
};

TEST(TensorMap, OfImagesKeepsTheDriversLimits) {
  const auto with = [](auto change) {
    OfImages s;
    change(s);
    return s.complaint();
  };
  EXPECT_EQ(with([](OfImages&) {}), "");
  EXPECT_EQ(box_elements(OfImages().map()), 64 * 16);
  EXPECT_THAT(
      to_text(OfImages().kernel()),
      HasSubstr("as 512(1) x 16(512) x 8(8192) x 2(65536) in columns of 64 x 16 pixels from (-1, -2) to "
                "(1, 0) by (2, 1) swizzle 128"));
  EXPECT_THAT(with([](OfImages& s) { s.map().rank = 3; }), HasSubstr("an im2col map is of (c, w, h, n)"));
  EXPECT_THAT(with([](OfImages& s) { s.map().im2col->pixels = 1025; }),
              HasSubstr("reads 1025 pixels of in, it can read 1 to 1024"));
  EXPECT_THAT(with([](OfImages& s) { s.map().im2col->lower[1] = -129; }),
              HasSubstr("bounding box is -129; it must be in [-128, 127]"));
  EXPECT_THAT(with([](OfImages& s) { s.map().im2col->upper[0] = 128; }), HasSubstr("bounding box is 128"));
  EXPECT_THAT(with([](OfImages& s) { s.map().im2col->upper[1] = -10; }),
              HasSubstr("bounding box from -2 to -10 is empty"));
  EXPECT_THAT(with([](OfImages& s) { s.map().im2col->step[0] = 9; }),
              HasSubstr("steps of 9, they are 1 to 8"));
  EXPECT_THAT(with([](OfImages& s) { s.map().box[0] = 128; }), HasSubstr("256 bytes wide"));
  EXPECT_THAT(with([](OfImages& s) {
                s.map().im2col.reset();
                s.map().box = {64, 1, 1, 1};
              }),
              HasSubstr("the tensor map of in is not im2col, the instruction is so"));
}

TEST(Clusters, DivideTheGridAndHaveABarrierOfTheirOwn) {
  const auto kernel_of = [](std::int64_t blocks, int cluster, BarrierScope barrier) {
    KernelBuilder b;
    b.kernel.name = "clustered";
    b.kernel.target = Target::kCuda;
    b.kernel.cluster = cluster;
    const BufferId out = b.param("out", DType::kF32, 4, Direction::kOut);
    const VarId block_of = b.var("block"), thread = b.var("thread");
    Block body = block(Barrier{barrier}, Store{out, var(block_of), Float{1, DType::kF32}, 1, std::nullopt});
    b.kernel.body = block(loop(block_of, blocks, LoopKind::kBlockX,
                               block(loop(thread, 1, LoopKind::kThreadX, std::move(body)))));
    return std::move(b.kernel);
  };
  const Kernel right = kernel_of(4, 2, BarrierScope::kCluster);
  EXPECT_EQ(why_malformed(right), std::nullopt);
  EXPECT_EQ(launch_of(right).cluster, 2);
  EXPECT_EQ(analyze(right).barriers, 1);
  EXPECT_THAT(to_text(right), HasSubstr(" cluster=2\n"));
  EXPECT_THAT(to_text(right), HasSubstr("barrier cluster\n"));
  const Kernel relaxed = kernel_of(4, 2, BarrierScope::kClusterRelaxed);
  EXPECT_EQ(why_malformed(relaxed), std::nullopt);
  EXPECT_EQ(analyze(relaxed).barriers, 1);
  EXPECT_THAT(to_text(relaxed), HasSubstr("barrier cluster relaxed\n"));
  const auto complaint = [&](std::int64_t blocks, int cluster, BarrierScope barrier) {
    return why_malformed(kernel_of(blocks, cluster, barrier)).value_or("");
  };
  EXPECT_THAT(complaint(3, 2, BarrierScope::kCluster),
              HasSubstr("3 blocks do not divide into clusters of 2"));
  EXPECT_THAT(complaint(4, 16, BarrierScope::kBlock), HasSubstr("clusters of 16 blocks"));
  EXPECT_THAT(complaint(4, 1, BarrierScope::kCluster), HasSubstr("there are no clusters"));
  EXPECT_THAT(complaint(4, 1, BarrierScope::kClusterRelaxed), HasSubstr("there are no clusters"));
}

TEST(Programmatic, WaitsBeforeAnyParameterIsTouchedAndLetsTheNextLaunchBegin) {
  const Stmt wait = Intrinsic{"griddepcontrol_wait", {}, {}, 0};
  const Stmt next = Intrinsic{"griddepcontrol_launch_dependents", {}, {}, 0};
  struct Made {
    KernelBuilder b;
    BufferId in, out;
    VarId thread;
    Made() {
      b.kernel.name = "overlapping";
      b.kernel.target = Target::kCuda;
      b.kernel.programmatic = true;
      in = b.param("in", DType::kF32, 64, Direction::kIn);
      out = b.param("out", DType::kF32, 64, Direction::kOut);
      thread = b.var("thread");
    }
    Stmt copy() const { return Store{out, var(thread), load(in, var(thread)), 1, std::nullopt}; }
    Kernel kernel(Block body) {
      b.kernel.body = block(loop(thread, 64, LoopKind::kThreadX, std::move(body)));
      return std::move(b.kernel);
    }
    std::string complaint(Block body) { return why_malformed(kernel(std::move(body))).value_or(""); }
  };
  Made right;
  const Stmt copy = right.copy();
  const Kernel kernel = right.kernel(block(wait, copy, next));
  EXPECT_EQ(why_malformed(kernel), std::nullopt);
  EXPECT_TRUE(launch_of(kernel).programmatic);
  EXPECT_THAT(to_text(kernel), HasSubstr(" programmatic\n"));
  EXPECT_THAT(Made().complaint(block(copy, wait, next)), HasSubstr("is touched before griddepcontrol_wait"));
  EXPECT_THAT(Made().complaint(block(copy, next)), HasSubstr("is touched before griddepcontrol_wait"));
  EXPECT_THAT(Made().complaint(block(next, wait, copy)), HasSubstr("comes before griddepcontrol_wait"));
  EXPECT_THAT(Made().complaint(block(wait, copy)), HasSubstr("never lets it begin"));
  EXPECT_THAT(Made().complaint(block(If{lt(var(right.thread), integer(32)), block(wait), {}}, copy, next)),
              HasSubstr("threads may disagree on whether they reach it"));
  Made ordinary;
  ordinary.b.kernel.programmatic = false;
  EXPECT_THAT(ordinary.complaint(block(wait, copy, next)), HasSubstr("does not overlap other launches"));
}

TEST(Wgmma, HasARuleForEveryNumberOfColumnsThatExists) {
  EXPECT_EQ(wgmma_columns("wgmma_m64n256k16_f32_bf16"), 256);
  EXPECT_EQ(wgmma_columns("wgmma_m64n8k32_s32_s8"), 8);
  EXPECT_EQ(wgmma_columns("wgmma_m64n40k32_s32_s8"), 0);  // s8: multiples of 16 above 24
  EXPECT_EQ(wgmma_columns("wgmma_m64n264k16_f32_bf16"), 0);
  EXPECT_EQ(wgmma_columns("wgmma_m64n12k16_f32_bf16"), 0);
  EXPECT_EQ(wgmma_columns("wgmma_fence"), 0);
  ASSERT_NE(intrinsic_rule("wgmma_m64n40k16_f32_f16"), nullptr);
  EXPECT_EQ(intrinsic_rule("wgmma_m64n40k16_f32_f16")->group, 128);
  EXPECT_EQ(intrinsic_rule("wgmma_m64n40k8_f32_f16"), nullptr);
}

}  // namespace
}  // namespace lehr::ir
