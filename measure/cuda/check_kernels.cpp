// Totals are computed in two stages: each block combines the values of its threads, then one block combines
// the values of all blocks. The result does not depend on the order.
#include "measure/cuda/check_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "target/dialect.h"
#include "target/prelude.h"

namespace lehr {
namespace {

// The arithmetic is the same as the host's (workload/inputs.h, measure/core/check.cpp): integers, and doubles
// in which no multiplication is followed by an addition, so that nothing can be contracted.
constexpr const char* kCommon = R"(
typedef unsigned long long lehr_u64;
__device__ __forceinline__ lehr_u64 lehr_mix(lehr_u64 x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}
__device__ __forceinline__ lehr_u64 lehr_key(lehr_u64 seed, lehr_u64 i) {
  return seed + (i + 1) * 0x9e3779b97f4a7c15ull;
}
__device__ __forceinline__ lehr_u64 lehr_thread() {
  return static_cast<lehr_u64>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ lehr_u64 lehr_threads() {
  return static_cast<lehr_u64>(gridDim.x) * blockDim.x;
}
__device__ __forceinline__ lehr_u64 lehr_least(lehr_u64 a, lehr_u64 b) { return a < b ? a : b; }
__device__ __forceinline__ lehr_u64 lehr_low_bytes(lehr_u64 count) {
  return count == 8 ? ~0ull : (1ull << (8 * count)) - 1;
}
__device__ __forceinline__ double lehr_power_of_two(int exponent) {
  return __longlong_as_double(static_cast<long long>(1023 + exponent) << 52);
}
// 0: the sum, 1: the least, 2: the greatest, over the threads of the block.
template <int kHow>
__device__ __forceinline__ lehr_u64 lehr_of_block(lehr_u64* shared, lehr_u64 value) {
  const unsigned t = threadIdx.x;
  shared[t] = value;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) {
      const lehr_u64 a = shared[t], b = shared[t + half];
      shared[t] = kHow == 0 ? a + b : kHow == 1 ? lehr_least(a, b) : (a < b ? b : a);
    }
    __syncthreads();
  }
  const lehr_u64 result = shared[0];
  __syncthreads();
  return result;
}
struct lehr_found {
  lehr_u64 compared, wrong, first_wrong, largest, unwritten, first_unwritten, first_nan, sum;
};
__device__ __forceinline__ lehr_found lehr_nothing() { return {0, 0, ~0ull, 0, 0, ~0ull, ~0ull, 0}; }
__device__ __forceinline__ void lehr_write_found(lehr_u64* shared, const lehr_found& one, lehr_u64* to) {
  const lehr_found all = {lehr_of_block<0>(shared, one.compared),    lehr_of_block<0>(shared, one.wrong),
                          lehr_of_block<1>(shared, one.first_wrong), lehr_of_block<2>(shared, one.largest),
                          lehr_of_block<0>(shared, one.unwritten),   lehr_of_block<1>(shared, one.first_unwritten),
                          lehr_of_block<1>(shared, one.first_nan),   lehr_of_block<0>(shared, one.sum)};
  if (threadIdx.x != 0) return;
  to[0] = all.compared;
  to[1] = all.wrong;
  to[2] = all.first_wrong;
  to[3] = all.largest;
  to[4] = all.unwritten;
  to[5] = all.first_unwritten;
  to[6] = all.first_nan;
  to[7] = all.sum;
}
)";

constexpr const char* kHead = R"(extern "C" __global__ void __launch_bounds__(256) )";
constexpr const char* kShared =
    "  extern __shared__ __align__(16) unsigned char lehr_shared[];\n"
    "  lehr_u64* shared = reinterpret_cast<lehr_u64*>(lehr_shared);\n";

std::string inputs_text(const std::string& entry, DType moved) {
  return fmt::format(
      R"({0}{1}(const {2}* __restrict__ table, const unsigned* __restrict__ job_words, {2}* __restrict__ tensor) {{
  const lehr_u64* job = reinterpret_cast<const lehr_u64*>(job_words);
  const lehr_u64 key = job[0], elements = job[1];
  for (lehr_u64 i = lehr_thread(); i < elements; i += lehr_threads()) {{
    const lehr_u64 bits = lehr_mix(lehr_key(key, i));
    tensor[i] = table[(bits & 0xffff) + ((bits >> 16) & 0xffff) + ((bits >> 32) & 0xffff) + (bits >> 48)];
  }}
}}
)",
      kHead, entry, scalar_name(moved));
}

std::string sum_text() {
  return fmt::format(
      R"({0}lehr_sum(const unsigned* __restrict__ data, const unsigned* __restrict__ job_words, unsigned* __restrict__ partials) {{
{1}  const lehr_u64* job = reinterpret_cast<const lehr_u64*>(job_words);
  const lehr_u64* words = reinterpret_cast<const lehr_u64*>(data);
  const lehr_u64 seed = job[0], count = job[1], holes = job[2];
  lehr_u64 sum = 0;
  for (lehr_u64 i = lehr_thread(); i < count; i += lehr_threads()) {{
    // Bytes of a hole, of the eight, count as zeros.
    lehr_u64 counted = ~0ull;
    for (lehr_u64 h = 0; h < holes; ++h) {{
      const lehr_u64 hole_begin = job[3 + 2 * h], hole_end = job[4 + 2 * h];
      const lehr_u64 begin = hole_begin > 8 * i ? lehr_least(hole_begin - 8 * i, 8) : 0;
      const lehr_u64 end = hole_end > 8 * i ? lehr_least(hole_end - 8 * i, 8) : 0;
      if (begin < end) counted &= ~(lehr_low_bytes(end) & ~lehr_low_bytes(begin));
    }}
    lehr_u64 word = 0;
    if (counted != 0) word = words[i] & counted;
    sum += lehr_mix(word ^ lehr_key(seed, i));
  }}
  sum = lehr_of_block<0>(shared, sum);
  if (threadIdx.x == 0) reinterpret_cast<lehr_u64*>(partials)[blockIdx.x] = sum;
}}
)",
      kHead, kShared);
}

/// Returns an expression for the value of `raw`, which is an element as it lies in memory.
std::string value_of(DType type) {
  switch (type) {
    case DType::kF16:
    case DType::kBF16:
    case DType::kE4M3:
    case DType::kE5M2:
      return fmt::format("static_cast<double>(lehr_f32_from_{}(raw))", name_of(type));
    default:
      return "static_cast<double>(raw)";
  }
}
std::string is_poison(DType type) {
  switch (type) {
    case DType::kF64:
      return "__double_as_longlong(raw) == -1";
    case DType::kF32:
      return "__float_as_uint(raw) == 0xffffffffu";
    default:
      return "raw == 0xffff";
  }
}
/// Returns text that allows for the output's rounding: an error of half a unit counts as 0 (half_unit() in
/// measure/core/check.cpp).
std::string rounding_text(DType type) {
  const std::optional<NarrowFormat> format = narrow_format(type);
  if (!format) return "";
  return fmt::format(R"(
    if (error > 0 && error <= 1.7976931348623157e308) {{
      const int biased = (raw & 0x7fff) >> {0};
      const double size = got < 0 ? -got : got, aim = wanted < 0 ? -wanted : wanted;
      const int at_power = aim < size && biased > 1 && (raw & {1}) == 0;
      const double rest = error - lehr_power_of_two((biased > 1 ? biased - 1 : 0) + ({2}) - {0} - 1 - at_power);
      error = rest > 0 ? rest : 0;
    }})",
                     format->fraction_bits, (1 << format->fraction_bits) - 1, format->least_exponent);
}

/// The type of the expected elements, and the statements that compute the difference. The difference is
/// computed in integers if result and expected values are both s64.
struct ExpectedText {
  std::string_view type, nothing, wanted, difference;
};
ExpectedText expected_text(DType expected_as) {
  constexpr std::string_view kOfFloats = R"(const double difference = got - wanted;
    double error = got == wanted ? 0 : difference < 0 ? -difference : difference;)";
  if (expected_as == DType::kS64)
    return {"lehr_u64", "0x8080808080808080ull", "static_cast<double>(static_cast<long long>(bits))",
            R"(const long long whole = static_cast<long long>(bits);
    double error = static_cast<double>(raw < whole ? bits - static_cast<lehr_u64>(raw)
                                                   : static_cast<lehr_u64>(raw) - bits);)"};
  if (expected_as == DType::kF64)
    return {"lehr_u64", "0xffffffffffffffffull", "__longlong_as_double(static_cast<long long>(bits))",
            kOfFloats};
  return {"unsigned", "0xffffffffu", "static_cast<double>(__uint_as_float(bits))", kOfFloats};
}

std::string compare_text(const std::string& entry, DType type, DType expected_as) {
  const std::string search = fmt::format(
      R"(
    if (got != got) {{
      if ({}) {{
        ++found.unwritten;
        found.first_unwritten = lehr_least(found.first_unwritten, i);
      }} else {{
        found.first_nan = lehr_least(found.first_nan, i);
      }}
    }})",
      is_poison(type));
  const ExpectedText expected = expected_text(expected_as);
  const std::string got =
      expected_as == DType::kS64 ? "" : fmt::format("\n    const double got = {};", value_of(type));
  return fmt::format(
      R"({0}{1}(const {2}* __restrict__ output, const unsigned* __restrict__ expected, const unsigned* __restrict__ job_words, unsigned* __restrict__ partials) {{
{3}  const lehr_u64* job = reinterpret_cast<const lehr_u64*>(job_words);
  const {8}* values = reinterpret_cast<const {8}*>(expected);
  const lehr_u64 elements = job[0], seed = job[2];
  const double absolute = __longlong_as_double(static_cast<long long>(job[1]));
  const double relative = __longlong_as_double(static_cast<long long>(job[3]));
  lehr_found found = lehr_nothing();
  for (lehr_u64 i = lehr_thread(); i < elements; i += lehr_threads()) {{
    const {8} bits = values[i];
    found.sum += lehr_mix(bits ^ lehr_key(seed, i));
    const {2} raw = output[i];{4}{5}
    if (bits == {6}) continue;
    ++found.compared;
    const double wanted = {9};
    {10}{7}
    if (error <= 1.7976931348623157e308) {{
      const lehr_u64 size = static_cast<lehr_u64>(__double_as_longlong(error));
      if (size > found.largest) found.largest = size;
    }}
    const double length = wanted < 0 ? -wanted : wanted;
    const double more = relative > 0 && length <= 1.7976931348623157e308 ? relative * length : 0;
    if (error <= absolute || error - absolute <= more) continue;
    ++found.wrong;
    found.first_wrong = lehr_least(found.first_wrong, i);
  }}
  lehr_write_found(shared, found, reinterpret_cast<lehr_u64*>(partials) + blockIdx.x * 8);
}}
)",
      kHead, entry, scalar_name(type), kShared, got, is_searched(type) ? search : "", expected.nothing,
      rounding_text(type), expected.type, expected.wanted, expected.difference);
}

std::string total_text() {
  return fmt::format(
      R"({0}lehr_total(const unsigned* __restrict__ compared, const unsigned* __restrict__ summed, const unsigned* __restrict__ job_words, unsigned* __restrict__ result) {{
{1}  const lehr_u64* job = reinterpret_cast<const lehr_u64*>(job_words);
  const lehr_u64* rows = reinterpret_cast<const lehr_u64*>(compared);
  const lehr_u64* sums = reinterpret_cast<const lehr_u64*>(summed);
  lehr_u64* to = reinterpret_cast<lehr_u64*>(result);
  lehr_found found = lehr_nothing();
  for (lehr_u64 b = threadIdx.x; b < job[1]; b += blockDim.x) {{
    const lehr_u64* row = rows + b * 8;
    found.compared += row[0];
    found.wrong += row[1];
    found.first_wrong = lehr_least(found.first_wrong, row[2]);
    if (row[3] > found.largest) found.largest = row[3];
    found.unwritten += row[4];
    found.first_unwritten = lehr_least(found.first_unwritten, row[5]);
    found.first_nan = lehr_least(found.first_nan, row[6]);
    found.sum += row[7];
  }}
  lehr_write_found(shared, found, to + 1);
  lehr_u64 sum = 0;
  for (lehr_u64 b = threadIdx.x; b < job[2]; b += blockDim.x) sum += sums[b];
  sum = lehr_of_block<0>(shared, sum);
  if (threadIdx.x != 0) return;
  to[9] = sum;
  to[0] = job[0];
}}
)",
      kHead, kShared);
}

/// Returns the text of the kernel named `entry`. CHECKs that there is such a kernel.
std::string text_of(const std::string& entry) {
  if (entry == "lehr_sum") return sum_text();
  if (entry == "lehr_total") return total_text();
  for (const DType type : all_dtypes())
    if (entry == inputs_entry(type)) return inputs_text(entry, moved_as(type));
  for (const DType type : all_dtypes())
    for (const DType as : {DType::kF32, DType::kF64, DType::kS64})
      if (entry == compare_entry(type, as)) return compare_text(entry, type, as);
  CHECK(false, "no kernel {}", entry);
  return "";
}

}  // namespace

Findings findings_of(const CheckResult& result, std::int64_t elements) {
  const auto index = [](std::uint64_t found) { return static_cast<std::int64_t>(found); };  // ~0 becomes -1
  return {.compared = index(result.compared),
          .wrong = index(result.wrong),
          .first_wrong = index(result.first_wrong),
          .searched = elements,
          .unwritten = index(result.unwritten),
          .first_unwritten = index(result.first_unwritten),
          .first_nan = index(result.first_nan),
          .max_error = result.max_error};
}

bool is_nothing(const Argument& output, std::int64_t element) {
  const std::int64_t size = size_of(output.expected_as);
  const auto at = output.expected.begin() + element * size;
  return std::all_of(at, at + size,
                     [&](unsigned char byte) { return byte == nothing_expected(output.expected_as); });
}

DType moved_as(DType type) {
  switch (size_of(type)) {
    case 1:
      return DType::kU8;
    case 2:
      return DType::kF16;
    case 4:
      return DType::kU32;
    default:
      return DType::kF64;
  }
}

std::string inputs_entry(DType type) {
  return fmt::format("lehr_inputs_{}", size_of(type));
}

std::string compare_entry(DType output, DType expected_as) {
  return fmt::format("lehr_compare_{}_as_{}", name_of(output), name_of(expected_as));
}

std::string check_kernels_text(std::span<const std::string> entries) {
  std::string kernels;
  for (const std::string& entry : entries) kernels += text_of(entry);
  SnippetSet used = {"base"};
  for (const DType type : {DType::kF16, DType::kBF16, DType::kE4M3, DType::kE5M2}) {
    const std::string convert = fmt::format("f32_from_{}", name_of(type));
    if (kernels.find("lehr_" + convert + "(") != std::string::npos) used.insert(convert);
  }
  return prelude(Target::kCuda, used) + kCommon + kernels;
}

Source check_kernels(const Problem& problem) {
  std::set<std::string> entries = {"lehr_sum", "lehr_total"};
  for (const Argument& argument : problem.arguments) {
    if (argument.is_output()) entries.insert(compare_entry(argument.type, argument.expected_as));
    if (argument.role != Role::kOut) entries.insert(inputs_entry(argument.type));
  }
  Source source;
  source.target = Target::kCuda;
  source.text = check_kernels_text(std::vector<std::string>(entries.begin(), entries.end()));
  source.entry = "lehr_total";
  source.launch.block = {kCheckThreads, 1, 1};
  source.launch.shared_bytes = kCheckThreads * static_cast<int>(sizeof(std::uint64_t));
  return source;
}

}  // namespace lehr
