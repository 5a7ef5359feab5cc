// Tests of workspaces and of the operations by which blocks hand results to one another: rules and readable
// form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/analyze.h"
#include "ir/print.h"
#include "tests/ir/sample_kernels.h"
#include "tests/support/verify.h"

namespace lehr::ir {
namespace {

using ::testing::HasSubstr;

/// Each of 4 blocks of 32 threads leaves 32 numbers; the one that comes last takes the first one's.
struct Handover {
  KernelBuilder b;
  BufferId in, out, partials, counters, ticket;
  VarId block_x, thread;
  Intrinsic arrive;
  Intrinsic fence{"device_fence", {}, {}, 0};

  Handover() {
    b.kernel.name = "handover";
    b.kernel.target = Target::kCuda;
    in = b.param("in", DType::kF32, 128, Direction::kIn);
    out = b.param("out", DType::kF32, 32, Direction::kOut);
    partials = b.param("partials", DType::kF32, 128, Direction::kWorkspace);
    counters = b.param("counters", DType::kU32, 1, Direction::kWorkspace);
    ticket = b.buffer("ticket", DType::kU32, Scope::kShared, 1);
    block_x = b.var("block_x");
    thread = b.var("thread");
    arrive = {"atomic_inc_u32",
              {Touch{ticket, integer(0), 1, true}, Touch{counters, integer(0), 1, true}},
              {integer(3)},
              0};
  }
  Kernel kernel() {
    const Expr mine = var(block_x) * 32 + var(thread);
    Block last = block(fence, Store{out, var(thread), load(partials, var(thread)), 1, std::nullopt});
    b.kernel.body = block(
        loop(block_x, 4, LoopKind::kBlockX,
             block(loop(thread, 32, LoopKind::kThreadX,
                        block(Alloc{ticket}, Store{partials, mine, load(in, mine), 1, std::nullopt}, fence,
                              Barrier{}, If{eq(var(thread), integer(0)), block(arrive), {}}, Barrier{},
                              If{eq(load(ticket, integer(0)), integer(3)), std::move(last), {}})))));
    return b.kernel;
  }
  std::string complaint() { return why_malformed(kernel()).value_or(""); }
};

TEST(Workspace, IsAcceptedBehindTheOtherParameters) {
  EXPECT_EQ(Handover().complaint(), "");
}

TEST(Workspace, MustStandBehindTheTensors) {
  Handover h;
  h.b.kernel.params = {{h.in, Direction::kIn},
                       {h.partials, Direction::kWorkspace},
                       {h.counters, Direction::kWorkspace},
                       {h.out, Direction::kOut}};
  EXPECT_THAT(h.complaint(), HasSubstr("parameter out stands behind a workspace"));
}

TEST(Workspace, MustBeUsed) {
  Handover h;
  h.b.param("spare", DType::kF32, 4, Direction::kWorkspace);
  EXPECT_THAT(h.complaint(), HasSubstr("workspace parameter spare is never written"));
}

TEST(Workspace, CountersAreUnsignedAndNotInRegisters) {
  Handover h;
  h.arrive.touches[1].buffer = h.partials;
  EXPECT_THAT(h.complaint(), HasSubstr("partials is of f32, it takes u32"));
  Handover g;
  g.b.kernel.buffers[static_cast<std::size_t>(g.ticket)].scope = Scope::kRegister;
  EXPECT_THAT(g.complaint(), HasSubstr("its first touch must write a shared buffer"));
}

TEST(Workspace, HoldsTheCountersOfAtomics) {
  Handover h;
  h.b.kernel.params.pop_back();
  h.b.kernel.params.insert(h.b.kernel.params.begin() + 2, {h.counters, Direction::kOut});
  EXPECT_THAT(h.complaint(), HasSubstr("its counter must be in a workspace"));
}

/// Each of 4 blocks adds 32 numbers to the same place.
struct Reduction : Handover {
  BufferId row;
  Intrinsic add;
  Reduction() {
    row = b.buffer("row", DType::kF32, Scope::kShared, 32);
    add = {"tma_reduce_add_f32",
           {Touch{row, integer(0), 32, false}, Touch{partials, integer(0), 32, true}},
           {integer(128)},
           0};
  }
  Kernel kernel() {
    Kernel handover = Handover::kernel();
    const Block one = block(add, Intrinsic{"tma_store_commit", {}, {}, 0},
                            Intrinsic{"tma_store_wait_complete", {}, {integer(0)}, 0});
    testing::change_nth<For>(handover.body, 0, [&](For& blocks) {
      testing::change_nth<For>(blocks.body, 0, [&](For& threads) {
        const Block before = threads.body;
        threads.body =
            block(Alloc{row}, before[0],
                  Store{row, var(thread), load(in, var(block_x) * 32 + var(thread)), 1, std::nullopt},
                  If{eq(var(thread), integer(0)), one, {}, 1});
        for (std::size_t i = 2; i < before.size(); ++i) threads.body.push_back(before[i]);
      });
    });
    return handover;
  }
  std::string complaint() { return why_malformed(kernel()).value_or(""); }
};

TEST(Workspace, IsAddedToInUnitsOf16Bytes) {
  EXPECT_EQ(Reduction().complaint(), "");
  const auto with = [](auto change) {
    Reduction r;
    change(r.add);
    return r.complaint();
  };
  EXPECT_THAT(with([](Intrinsic& add) { add.args = {integer(120)}; }),
              HasSubstr("must be a constant multiple of 16 bytes"));
  EXPECT_THAT(with([](Intrinsic& add) { add.args = {integer(64)}; }),
              HasSubstr("it touches 32 elements of row in 1 rows and adds 64 bytes"));
  EXPECT_THAT(with([](Intrinsic& add) { add.touches[1].elements = 16; }),
              HasSubstr("it touches 16 elements of partials in 1 rows and adds 128 bytes"));
  EXPECT_THAT(with([](Intrinsic& add) { add.name = "tma_reduce_add_s32"; }),
              HasSubstr("row is of f32, it takes s32"));
  Reduction r;
  r.add.touches[1].buffer = r.out;
  EXPECT_THAT(r.complaint(), HasSubstr("its sums must be in a workspace"));
}

TEST(Workspace, IsWrittenByReductions) {
  const Kernel kernel = Reduction().kernel();
  const Analysis analysis = analyze(kernel);
  EXPECT_EQ(analysis.global.written_bytes, 4 * 128 + (128 + 128) * 4);  // one thread's; counters and out
  EXPECT_EQ(analysis.shared.read_bytes, 4 * 128 + 128 * 4);             // the ticket, too
  EXPECT_THAT(to_text(kernel),
              HasSubstr("tma_reduce_add_f32(read row[0 : 32], write partials[0 : 32], 128)"));
}

TEST(Workspace, IsPrinted) {
  const std::string text = to_text(Handover().kernel());
  EXPECT_THAT(text, HasSubstr("in in: f32[128], out out: f32[32], workspace partials: f32[128], workspace "
                              "counters: u32[1])"));
  EXPECT_THAT(text, HasSubstr("device_fence()\n"));
  EXPECT_THAT(text, HasSubstr("atomic_inc_u32(write ticket[0], write counters[0], 3)\n"));
}

TEST(Workspace, IsGlobalTraffic) {
  const Analysis analysis = analyze(Handover().kernel());
  EXPECT_EQ(analysis.global.written_bytes,
            (128 + 128 + 128) * 4);  // partials, counters and out by every thread
  EXPECT_EQ(analysis.global.read_bytes, (128 + 128) * 4);
  EXPECT_EQ(analysis.barriers, 2);
}

}  // namespace
}  // namespace lehr::ir
