// The kernels by which a CUDA device makes inputs and checks outputs: their text, and what passes through
// their arguments.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "codegen/source.h"
#include "measure/core/check.h"

namespace lehr {

/// Threads of a block, and blocks of a launch but of the last kernel's, which is one block.
inline constexpr int kCheckThreads = 256;
inline constexpr int kCheckBlocks = 512;
/// Outputs that one problem may have.
inline constexpr std::size_t kMostOutputs = 8;
/// All bytes of an element for which nothing is expected: of floats a NaN that no arithmetic makes, of s64 a
/// number that is most unlikely to be right.
constexpr unsigned char nothing_expected(DType expected_as) {
  return expected_as == DType::kS64 ? 0x80 : 0xff;
}
/// Whether it is that of this element of Argument::expected, which has a value for each.
bool is_nothing(const Argument& output, std::int64_t element);

// Words of 64 bits in arguments that are arrays of u32: all kernels take addresses alone.

/// lehr_inputs_N(table, job, tensor): element i becomes table[input_step(key, i)], N bytes each.
struct InputsJob {
  std::uint64_t key = 0;
  std::uint64_t elements = 0;
};
/// lehr_sum(words, job, partials), by blocks: the sum over i of mix64(word i xor (seed + (i + 1)
/// kSplitmixStep)): any changed bit changes it. Bytes of holes count as zeros.
struct SumJob {
  struct Hole {
    std::uint64_t begin = 0, end = 0;
  };
  std::uint64_t seed = 0;
  std::uint64_t words = 0;  ///< of 64 bits
  std::uint64_t hole_count = 0;
  std::array<Hole, kMostOutputs> holes = {};
};
/// lehr_compare_TYPE_as_TYPE(output, expected, job, partials): `partials` gets a CheckPartial of each block.
struct CompareJob {
  std::uint64_t elements = 0;
  double absolute = 0;     ///< Argument::absolute
  std::uint64_t seed = 0;  ///< of the sum over the expected values' bits, each a word
  double relative = 0;     ///< Argument::relative
};
/// lehr_total(compared, summed, job, result): adds up what so many blocks have found, in one block.
struct TotalJob {
  std::uint64_t number = 0;  ///< of the check
  std::uint64_t compare_blocks = 0, sum_blocks = 0;
};
/// What comes back. Indices are ~0 where there is none.
struct CheckResult {
  std::uint64_t number = 0;
  std::uint64_t compared = 0, wrong = 0, first_wrong = 0;
  double max_error = 0;
  std::uint64_t unwritten = 0, first_unwritten = 0, first_nan = 0;
  std::uint64_t expected_sum = 0;
  std::uint64_t sum = 0;  ///< of lehr_sum
};
/// What it says of an output of so many elements.
Findings findings_of(const CheckResult& result, std::int64_t elements);
/// Of lehr_compare, per block: CheckResult's from `compared` on.
inline constexpr std::size_t kPartialWords = 8;

/// As what lehr_inputs_N moves elements of a type, unseen: a type of the same size.
DType moved_as(DType type);
/// "lehr_inputs_2"
std::string inputs_entry(DType type);
/// "lehr_compare_bf16_as_f32"
std::string compare_entry(DType output, DType expected_as);

/// The kernels that a problem needs, in one text; `entry` is lehr_total. Its parameters are left out: they
/// differ from kernel to kernel.
Source check_kernels(const Problem& problem);
/// The text with these kernels alone.
std::string check_kernels_text(std::span<const std::string> entries);

}  // namespace lehr
