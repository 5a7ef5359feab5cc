// What a candidate is run on: inputs, the expected output, and how exact it must be.
#pragma once

#include <cstdint>
#include <vector>

#include "base/dtype.h"
#include "workload/workload.h"

namespace lehr {

/// One argument of the kernel. Inputs carry their bytes; outputs are poisoned by the runner before every
/// checked run.
struct ProblemTensor {
  DType type = DType::kF32;
  std::int64_t elements = 0;
  bool output = false;
  std::vector<float>
      values;  ///< inputs: one f32 per element (exactly representable in `type`); outputs: empty
};

struct Problem {
  Workload workload;                   ///< what is computed: what a vendor library is asked for
  std::uint64_t seed = 0;              ///< of the inputs
  std::vector<ProblemTensor> tensors;  ///< tensors_of(workload), with make_inputs(workload, seed)
  std::vector<std::int64_t> indices;   ///< flat output elements that `expected` holds; empty: all
  std::vector<float> expected;
  double tolerance = 0;  ///< of each element's sum, absolute; its rounding to 16 bits comes on top (check.h)
};

/// With inputs and expected output; the same for the same seed. Of workloads of more than `full_flops`
/// operations some rows of the output are expected (workload/reference.h).
Problem problem_for(const Workload& workload, std::uint64_t seed, double full_flops = 8e9);
/// The same workload on other inputs, of which a few rows of the output are expected: what a kernel that
/// answers from what it saw before cannot know.
Problem other_problem_for(const Workload& workload, std::uint64_t seed);
/// Problem::tensors of what make_inputs() made.
std::vector<ProblemTensor> problem_tensors(const Workload& workload, std::vector<std::vector<float>> inputs);

}  // namespace lehr
