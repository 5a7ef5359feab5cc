// What a candidate is run on: inputs, the expected output, and how exact it must be.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "codegen/source.h"
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

/// Made, or only asked for: then its inputs have no values yet, and nothing is expected. Whoever runs
/// candidates makes it, or has its device do that.
struct Problem {
  std::string text;             ///< what is asked for, as the log has it
  std::int64_t rows = 0;        ///< of the call, where kernels are told how many; 0: their number is fixed
  double flops = 0, bytes = 0;  ///< of a call: operations, and the least that crosses memory; 0: not known
  Workload workload;            ///< what is computed, of fixed rows: what a library is asked for
  std::uint64_t seed = 0;       ///< of the inputs
  double full_flops = 8e9;      ///< of more operations only some rows of the output are expected
  std::vector<ProblemTensor> tensors;  ///< tensors_of(workload), with make_inputs(workload, seed)
  std::vector<std::int64_t> indices;   ///< flat output elements that `expected` holds; empty: all
  std::vector<float> expected;
  /// Of each element's sum, absolute; its rounding to 16 or 8 bits comes on top (check.h).
  double tolerance = 0;
  double inputs_s = 0, expected_s = 0;  ///< wall time of making the inputs, and what is expected; 0: not made

  bool made() const { return !expected.empty(); }
};

/// The problem of that seed, only asked for.
Problem asked_problem(const Workload& workload, std::uint64_t seed);
/// Problem::full_flops of other_problem().
inline constexpr double kOtherFlops = 2e8;
/// The same workload on other inputs, of which the host expects a few rows of the output: what a kernel that
/// answers from what it saw before cannot know.
Problem other_problem(const Workload& workload, std::uint64_t seed);
/// The inputs' values, an array a tensor as in tensors_of(workload). Sets Problem::inputs_s.
std::vector<std::vector<float>> inputs_of(Problem& problem, int threads);
/// With inputs and expected output; the same for the same workload, seed and `full_flops`
/// (workload/reference.h). Nothing happens to one that is made.
void make(Problem& problem, int threads);

/// What is expected of a GEMM's first rows, of which there are more; both matrices lie by rows.
Problem first_rows(const Problem& problem, std::int64_t rows);
/// How many of them show whether a kernel that is told the number of rows computes fewer rightly: an odd
/// number, so that tiles have a rest, or one whose last row is expected. 0 where there is but one row.
std::int64_t fewer_rows(const Problem& problem);

/// A kernel that computes what is expected on the device that candidates run on, element by element in f64.
struct PlainSource {
  /// Its parameters are the inputs, in the order of tensors_of(workload), an f32 for each element of the
  /// output, and numbers of bands (s32): blocks with blockIdx.y == y compute the elements of band bands[y].
  Source source;
  std::int64_t bands = 0;  ///< that hold all elements
};

/// Problem::tensors of what make_inputs() made.
std::vector<ProblemTensor> problem_tensors(const Workload& workload, std::vector<std::vector<float>> inputs);

}  // namespace lehr
