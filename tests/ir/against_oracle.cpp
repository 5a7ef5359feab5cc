// See against_oracle.h.
#include "tests/ir/against_oracle.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "ir/print.h"

namespace lehr::testing {

using namespace ir;

void expect_exact_but_footprints(const Kernel& kernel, const Analysis& analysis, const Counts& counts) {
  EXPECT_EQ(analysis.flops, static_cast<double>(counts.flops));
  EXPECT_EQ(analysis.barriers, static_cast<double>(counts.block_barriers));
  EXPECT_EQ(analysis.integer_divisions, static_cast<double>(counts.integer_divisions));
  const Traffic* scopes[] = {&analysis.global, &analysis.scratch, &analysis.shared, &analysis.registers};
  for (std::size_t scope = 0; scope < 4; ++scope) {
    EXPECT_EQ(scopes[scope]->read_bytes, static_cast<double>(counts.read_bytes[scope]))
        << name_of(static_cast<Scope>(scope));
    EXPECT_EQ(scopes[scope]->written_bytes, static_cast<double>(counts.written_bytes[scope]))
        << name_of(static_cast<Scope>(scope));
  }
  ASSERT_EQ(analysis.accesses.size(), counts.accesses.size());
  for (std::size_t i = 0; i < counts.accesses.size(); ++i) {
    const Access& got = analysis.accesses[i];
    const CountedAccess& want = counts.accesses[i];
    SCOPED_TRACE(fmt::format("access {}, of {}", i, kernel.buffer(want.buffer).name));
    EXPECT_EQ(got.buffer, want.buffer);
    EXPECT_EQ(got.writes, want.writes);
    EXPECT_EQ(got.guarded, want.guarded);
    EXPECT_EQ(got.lanes, want.lanes);
    EXPECT_EQ(got.executions, static_cast<double>(want.executions));
    EXPECT_EQ(got.offset, want.first_index);
    EXPECT_EQ(got.footprint.size(), is_cached(kernel.buffer(want.buffer).scope) ? want.distinct.size() : 0);
    // The oracle never sees iteration 1 of a loop that has only one.
    std::vector<std::int64_t> strides(got.strides.begin(), got.strides.end());
    int loop = got.loop;
    for (std::size_t d = strides.size(); d-- > 0;
         loop = analysis.loops[static_cast<std::size_t>(loop)].parent) {
      ASSERT_GE(loop, 0);
      EXPECT_EQ(analysis.loops[static_cast<std::size_t>(loop)].depth, static_cast<int>(d));
      if (analysis.loops[static_cast<std::size_t>(loop)].extent == 1) strides[d] = 0;
    }
    EXPECT_EQ(loop, -1);
    EXPECT_EQ(strides, want.strides);
  }
}

void expect_exact(const Kernel& kernel) {
  SCOPED_TRACE(to_text(kernel));
  const Analysis analysis = analyze(kernel);
  const Counts counts = count(kernel);
  expect_exact_but_footprints(kernel, analysis, counts);
  ASSERT_EQ(analysis.accesses.size(), counts.accesses.size());
  for (std::size_t i = 0; i < counts.accesses.size(); ++i) {
    const Buffer& buffer = kernel.buffer(counts.accesses[i].buffer);
    if (!is_cached(buffer.scope)) continue;
    SCOPED_TRACE(fmt::format("access {}, of {}", i, buffer.name));
    EXPECT_EQ(analysis.accesses[i].footprint,
              std::vector<double>(counts.accesses[i].distinct.begin(), counts.accesses[i].distinct.end()));
  }
  EXPECT_EQ(analysis.unique_global_bytes, static_cast<double>(counts.distinct_global_bytes));
}

}  // namespace lehr::testing
