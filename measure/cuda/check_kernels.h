// Kernels with which a CUDA device makes inputs and checks outputs: their text, and the structs that their
// arguments point to.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "codegen/source.h"
#include "measure/core/check.h"

namespace lehr {

/// Threads of a block, and blocks of a launch. The last kernel has one block.
inline constexpr int kCheckThreads = 256;
inline constexpr int kCheckBlocks = 512;
/// Most outputs of a problem.
inline constexpr std::size_t kMostOutputs = 8;
/// Returns the byte that fills an element without an expected value: in floats a NaN that no arithmetic
/// makes, in s64 a number that is most unlikely to be right.
constexpr unsigned char nothing_expected(DType expected_as) {
  return expected_as == DType::kS64 ? 0x80 : 0xff;
}
/// Whether this element of Argument::expected, which has a value for each, is such a one.
bool is_nothing(const Argument& output, std::int64_t element);

// Arguments that are arrays of u32 have words of 64 bits in them: all kernels only take addresses.

/// Argument of lehr_inputs_N(table, job, tensor): element i becomes table[input_step(key, i)], N bytes each.
struct InputsJob {
  std::uint64_t key = 0;
  std::uint64_t elements = 0;
};
/// Argument of lehr_sum(words, job, partials), which sums by blocks mix64(word i xor (seed + (i + 1)
/// kSplitmixStep)) over i: any changed bit changes the sum. Bytes of holes count as zeros.
struct SumJob {
  struct Hole {
    std::uint64_t begin = 0, end = 0;
  };
  std::uint64_t seed = 0;
  std::uint64_t words = 0;  ///< of 64 bits
  std::uint64_t hole_count = 0;
  std::array<Hole, kMostOutputs> holes = {};
};
/// Argument of lehr_compare_TYPE_as_TYPE(output, expected, job, partials): `partials` gets a CheckPartial of
/// each block.
struct CompareJob {
  std::uint64_t elements = 0;
  double absolute = 0;     ///< Argument::absolute
  std::uint64_t seed = 0;  ///< of the sum over the expected values' bits, each a word
  double relative = 0;     ///< Argument::relative
};
/// Argument of lehr_total(compared, summed, job, result), which adds the findings of this many blocks, in one
/// block.
struct TotalJob {
  std::uint64_t number = 0;  ///< of the check
  std::uint64_t compare_blocks = 0, sum_blocks = 0;
};
/// The result of a check. An index is ~0 if there is no such element.
struct CheckResult {
  std::uint64_t number = 0;
  std::uint64_t compared = 0, wrong = 0, first_wrong = 0;
  double max_error = 0;
  std::uint64_t unwritten = 0, first_unwritten = 0, first_nan = 0;
  std::uint64_t expected_sum = 0;
  std::uint64_t sum = 0;  ///< lehr_sum's result
};
/// Returns the findings on an output of this many elements.
Findings findings_of(const CheckResult& result, std::int64_t elements);
/// Words that lehr_compare writes per block: the members of CheckResult from `compared` on.
inline constexpr std::size_t kPartialWords = 8;

/// Returns a type of the same size, as which lehr_inputs_N moves elements without looking at them.
DType moved_as(DType type);
/// Returns "lehr_inputs_2".
std::string inputs_entry(DType type);
/// Returns "lehr_compare_bf16_as_f32".
std::string compare_entry(DType output, DType expected_as);

/// Returns the kernels that a problem needs, in one text. `entry` is lehr_total. Its parameters are left out:
/// they differ from kernel to kernel.
Source check_kernels(const Problem& problem);
/// Returns a text with only these kernels.
std::string check_kernels_text(std::span<const std::string> entries);

}  // namespace lehr
