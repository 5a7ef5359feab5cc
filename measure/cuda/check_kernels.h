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

/// Threads of a block, and blocks of a launch. lehr_total is launched with one block.
inline constexpr int kCheckThreads = 256;
inline constexpr int kCheckBlocks = 512;
/// Maximum number of outputs of a problem.
inline constexpr std::size_t kMostOutputs = 8;
/// Returns the byte that fills an element without an expected value. For floats such bytes are a NaN that no
/// arithmetic makes. For s64 they are a number that is most unlikely to be right.
constexpr unsigned char nothing_expected(DType expected_as) {
  return expected_as == DType::kS64 ? 0x80 : 0xff;
}
/// Whether `element` of `output.expected`, which has an entry for each element, has no expected value.
bool is_nothing(const Argument& output, std::int64_t element);

// Arrays of 64-bit words are declared as arrays of u32, since all kernels take addresses only.

/// Argument of lehr_inputs_N(table, job, tensor). Element i becomes table[input_step(key, i)]; N is the bytes
/// of an element.
struct InputsJob {
  std::uint64_t key = 0;
  std::uint64_t elements = 0;
};
/// Argument of lehr_sum(words, job, partials). Each block sums mix64(word i xor (seed + (i + 1)
/// kSplitmixStep)) over its i, so any changed bit changes the sum. Bytes in holes count as zeros.
struct SumJob {
  struct Hole {
    std::uint64_t begin = 0, end = 0;
  };
  std::uint64_t seed = 0;
  std::uint64_t words = 0;  ///< number of 64-bit words
  std::uint64_t hole_count = 0;
  std::array<Hole, kMostOutputs> holes = {};
};
/// Argument of lehr_compare_TYPE_as_TYPE(output, expected, job, partials). Each block writes a CheckPartial
/// to `partials`.
struct CompareJob {
  std::uint64_t elements = 0;
  double absolute = 0;     ///< Argument::absolute
  std::uint64_t seed = 0;  ///< seed of the sum over the expected values' bits; each value is one word
  double relative = 0;     ///< Argument::relative
};
/// Argument of lehr_total(compared, summed, job, result), which runs in one block. It adds the findings of
/// `compare_blocks` and `sum_blocks` blocks.
struct TotalJob {
  std::uint64_t number = 0;  ///< number of the check
  std::uint64_t compare_blocks = 0, sum_blocks = 0;
};
/// The result of a check. An index is ~0 if there is no such element.
struct CheckResult {
  std::uint64_t number = 0;
  std::uint64_t compared = 0, wrong = 0, first_wrong = 0;
  double max_error = 0;
  std::uint64_t unwritten = 0, first_unwritten = 0, first_nan = 0;
  std::uint64_t expected_sum = 0;
  std::uint64_t sum = 0;  ///< result of lehr_sum
};
/// Returns the findings about an output with this number of elements.
Findings findings_of(const CheckResult& result, std::int64_t elements);
/// Number of words that each block of lehr_compare writes: the members of CheckResult from `compared` on.
inline constexpr std::size_t kPartialWords = 8;

/// Returns a type of the same size. lehr_inputs_N moves elements as this type, without interpreting them.
DType moved_as(DType type);
/// Returns "lehr_inputs_2".
std::string inputs_entry(DType type);
/// Returns "lehr_compare_bf16_as_f32".
std::string compare_entry(DType output, DType expected_as);

/// Returns the kernels that a problem needs, in one text. `entry` is lehr_total. The source has no
/// parameters, since these differ from kernel to kernel.
Source check_kernels(const Problem& problem);
/// Returns a text with only the kernels named in `entries`.
std::string check_kernels_text(std::span<const std::string> entries);

}  // namespace lehr
