// Settings and counts of the fake cuDNN, for tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// One plan that its heuristics offer.
struct FakePlan {
  double us = 10;
  std::int64_t workspace_bytes = 0;
  std::vector<int> notes = {};           ///< cudnnBackendNumericalNote_t of its engine
  std::vector<int> heuristics = {3, 1};  ///< cudnnBackendHeurMode_t: which of them answer with it
  bool wrong = false;                    ///< forgets the last input channel
  bool refused = false;                  ///< cannot be built
  bool fails = false;                    ///< cannot be run
  double pointwise_us = 1;               ///< time of a graph without a convolution
};

struct FakeDnnCounts {
  int objects = 0;  ///< handles and descriptors that exist
  int first_calls_in_capture = 0;
  std::string graphs;  ///< of each call: "conv" or "pointwise", and how many pointwise operations it has
};
