// Settings and counts of the fake cuBLASLt, for tests.
#pragma once

#include <cstdint>
#include <vector>

/// One algorithm that its heuristic offers.
struct FakeAlgorithm {
  double us = 10;
  double row_order_us = 10;  ///< when the matrices are declared row-major
  std::int64_t workspace_bytes = 0;
  bool wrong = false;  ///< forgets the last k
  bool fails = false;  ///< cannot be launched
};

struct FakeLtCounts {
  int objects = 0;  ///< handles, descriptors and preferences that exist
  int first_calls_in_capture = 0;
  int asked = 0;                     ///< algorithms that the last heuristic was asked for
  std::int64_t workspace_bytes = 0;  ///< ... and what it permitted
  std::uint32_t alignment = 0;       ///< ... and demanded of each matrix
  std::uint32_t reductions = 0;      ///< ... and the split-k reductions that it permitted, as bits
  int fast_accumulation = 0;         ///< ... and whether sums of 8-bit floats may stay in the tensor core
  std::vector<const void*> outputs;  ///< addresses of D, by call
};
