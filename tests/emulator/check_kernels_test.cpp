// The kernels that make inputs and check outputs on the device, against the host's own arithmetic.
#include "measure/cuda/check_kernels.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/rng.h"
#include "measure/core/element.h"
#include "tests/emulator/program.h"
#include "tests/support/seed.h"
#include "workload/inputs.h"

namespace lehr::emulator {
namespace {

using Bytes = std::vector<unsigned char>;

constexpr int kBlocks = 3, kThreads = 64;
constexpr std::int64_t kMost = 700;  // elements: several for each thread

template <typename T>
Bytes bytes_of(const T& value) {
  Bytes bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

SourceParam words(const char* name, std::int64_t of_64_bits, ir::Direction direction) {
  return {name, DType::kU32, 2 * of_64_bits, direction};
}

Source source_of(const std::string& entry, std::vector<SourceParam> params, int blocks = kBlocks) {
  Source source;
  source.target = Target::kCuda;
  const std::string entries[] = {entry};
  source.text = check_kernels_text(entries);
  source.entry = entry;
  source.params = std::move(params);
  source.launch.grid = {blocks, 1, 1};
  source.launch.block = {kThreads, 1, 1};
  source.launch.shared_bytes = kThreads * 8;
  return source;
}

Source compare_source(DType type, std::int64_t elements) {
  return source_of(compare_entry(type), {{"output", type, elements, ir::Direction::kIn},
                                         {"expected", DType::kU32, elements, ir::Direction::kIn},
                                         words("job", 3, ir::Direction::kIn),
                                         words("partials", kBlocks * 8, ir::Direction::kOut)});
}

Source sum_source(std::int64_t count) {
  return source_of("lehr_sum", {words("data", count, ir::Direction::kIn), words("job", 4, ir::Direction::kIn),
                                words("partials", kBlocks, ir::Direction::kOut)});
}

Source total_source() {
  return source_of(
      "lehr_total",
      {words("compared", kBlocks * 8, ir::Direction::kIn), words("summed", kBlocks, ir::Direction::kIn),
       words("job", 3, ir::Direction::kIn), words("result", 10, ir::Direction::kOut)},
      1);
}

/// As lehr_sum does; the last word is filled up with zeros.
std::uint64_t sum_of(std::span<const unsigned char> bytes, std::uint64_t seed) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; 8 * i < bytes.size(); ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + 8 * i, std::min<std::size_t>(8, bytes.size() - 8 * i));
    sum += mix64(word ^ (seed + (i + 1) * kSplitmixStep));
  }
  return sum;
}

/// What the last kernel makes of partial results.
CheckResult total(const Program& program, std::size_t index, const Bytes& compared, const Bytes& summed) {
  const Result run = program.run_bytes(
      index, {compared, summed, bytes_of(TotalJob{77, compared.empty() ? 0U : kBlocks, kBlocks})});
  EXPECT_FALSE(run.fault) << *run.fault;
  CheckResult result;
  static_assert(sizeof result == 80);
  std::memcpy(&result, run.output_bytes.at(0).data(), sizeof result);
  EXPECT_EQ(result.number, 77U);
  return result;
}

TEST(CheckKernels, MakeTheInputsOfTheHostBitForBit) {
  const std::uint64_t key = input_key(lehr::testing::test_seed(1), "b");
  std::vector<Source> sources;
  for (const DType type : all_dtypes()) {
    const DType bits = moved_as(type);
    sources.push_back(source_of(inputs_entry(type), {{"table", bits, kInputSteps, ir::Direction::kIn},
                                                     words("job", 2, ir::Direction::kIn),
                                                     {"tensor", bits, kMost, ir::Direction::kOut}}));
  }
  const Program program(sources);
  for (std::size_t t = 0; t < sources.size(); ++t) {
    const DType type = all_dtypes()[t];
    Bytes table(static_cast<std::size_t>(kInputSteps * size_of(type)));
    store_elements(type, input_values(type, usual_draw(type)), table.data());
    const Result run = program.run_bytes(t, {table, bytes_of(InputsJob{key, kMost})});
    ASSERT_FALSE(run.fault) << *run.fault;
    std::vector<float> wanted;
    for (std::int64_t i = 0; i < kMost; ++i)
      wanted.push_back(drawn_value(type, usual_draw(type), input_step(key, i)));
    Bytes bytes(static_cast<std::size_t>(kMost * size_of(type)));
    store_elements(type, wanted, bytes.data());
    EXPECT_EQ(run.output_bytes.at(0), bytes) << name_of(type) << ", key " << key;
  }
}

/// One output, right in all places or with faults of all kinds at random ones, mostly few.
struct Case {
  Problem problem;
  Bytes output;
  std::vector<std::uint32_t> expected;  ///< kNothingExpected where the problem has no value
};

Case make_case(DType type, bool right, Rng& rng) {
  Case one;
  one.problem.tolerance = is_integer(type) ? 0 : rng.uniform() * 0.01;
  one.problem.tensors = {{.type = type, .elements = kMost, .output = true, .values = {}}};
  one.output.resize(static_cast<std::size_t>(kMost * size_of(type)));
  const bool some = rng.below(2) == 0;                             // only of some rows
  const std::uint64_t faulty = std::uint64_t{1} << rng.below(14);  // one in so many
  const float scales[] = {1, 1e-6F, 300, 70000};
  for (std::int64_t i = 0; i < kMost; ++i) {
    unsigned char* at = one.output.data() + i * size_of(type);
    float value = drawn_value(DType::kF32, {}, static_cast<std::int64_t>(rng.below(kInputSteps))) *
                  scales[right ? 0 : rng.below(4)];
    if (is_integer(type)) value = std::nearbyint(value);
    if (right) {  // what the type can hold
      store_elements(type, {&value, 1}, at);
      value = static_cast<float>(load_element(type, at, 0));
    }
    float got = value + static_cast<float>((2 * rng.uniform() - 1) * one.problem.tolerance);
    if (is_integer(type) || right) got = value;
    if (!right && rng.below(faulty) == 0) {
      const float wrong[] = {value + 1, std::numeric_limits<float>::quiet_NaN(), 0,
                             std::numeric_limits<float>::infinity(), -value};
      got = wrong[rng.below(5)];
    }
    store_elements(type, {&got, 1}, at);
    if (!right && rng.below(faulty) == 0)
      std::memset(at, kPoisonByte, static_cast<std::size_t>(size_of(type)));
    if (some && (i / 50) % 3 == 1) {
      one.expected.push_back(kNothingExpected);
      continue;
    }
    one.expected.push_back(std::bit_cast<std::uint32_t>(value));
    one.problem.expected.push_back(value);
    one.problem.indices.push_back(i);
  }
  if (!some) one.problem.indices.clear();
  return one;
}

TEST(CheckKernels, FindWhatTheHostFinds) {
  const std::uint64_t seed = lehr::testing::test_seed(1);
  Rng rng(seed);
  std::vector<Source> sources;
  for (const DType type : all_dtypes()) sources.push_back(compare_source(type, kMost));
  sources.push_back(total_source());
  const Program program(sources);
  constexpr int kRounds = 12;
  int faults = 0;
  for (int round = 0; round < kRounds; ++round)
    for (std::size_t t = 0; t + 1 < sources.size(); ++t) {
      const DType type = all_dtypes()[t];
      const bool right = round % 4 == 0;
      Case one = make_case(type, right, rng);
      Bytes expected(one.expected.size() * 4);
      std::memcpy(expected.data(), one.expected.data(), expected.size());
      const Result run = program.run_bytes(
          t, {one.output, expected, bytes_of(CompareJob{kMost, one.problem.tolerance, seed})});
      ASSERT_FALSE(run.fault) << *run.fault;
      const CheckResult result =
          total(program, sources.size() - 1, run.output_bytes.at(0), Bytes(kBlocks * sizeof(std::uint64_t)));
      const Findings seen = findings_of(result, kMost);
      const Comparison host = compare_output(one.problem, one.output.data());
      const double got = seen.first_wrong < 0 ? 0 : load_element(type, one.output.data(), seen.first_wrong);
      const float wanted =
          seen.first_wrong < 0
              ? 0
              : std::bit_cast<float>(one.expected[static_cast<std::size_t>(seen.first_wrong)]);
      EXPECT_EQ(fault_of(seen, one.problem.tolerance, got, wanted), host.fault)
          << name_of(type) << " seed " << seed;
      EXPECT_EQ(seen.max_error, host.max_error) << name_of(type) << " seed " << seed;
      EXPECT_EQ(seen.compared, static_cast<std::int64_t>(one.problem.expected.size()));
      // The sum of the expected values: that of their bits, each as a word of 64.
      Bytes wide(one.expected.size() * 8);
      for (std::size_t i = 0; i < one.expected.size(); ++i) std::memcpy(&wide[8 * i], &one.expected[i], 4);
      EXPECT_EQ(result.expected_sum, sum_of(wide, seed));
      if (right) {
        EXPECT_EQ(host.fault, "") << name_of(type) << " seed " << seed;
      }
      faults += host.fault.empty() ? 0 : 1;
    }
  EXPECT_GT(faults, 20) << "seed " << seed;
}

TEST(CheckKernels, SumEveryBitButThoseOfTheHole) {
  const std::uint64_t seed = lehr::testing::test_seed(1);
  Rng rng(seed);
  constexpr std::int64_t kWords = 301;
  const Program program(std::vector<Source>{sum_source(kWords), total_source()});
  const auto sum = [&](const Bytes& data, std::uint64_t words, std::uint64_t begin, std::uint64_t end) {
    const Result run = program.run_bytes(0, {data, bytes_of(SumJob{seed, words, begin, end})});
    EXPECT_FALSE(run.fault) << *run.fault;
    return total(program, 1, Bytes(kBlocks * 8 * sizeof(std::uint64_t)), run.output_bytes.at(0)).sum;
  };
  for (int round = 0; round < 30; ++round) {
    Bytes data(kWords * 8);
    for (unsigned char& byte : data) byte = static_cast<unsigned char>(rng.next());
    const std::uint64_t begin = rng.below(data.size()), end = begin + rng.below(data.size() + 1 - begin);
    Bytes without = data;
    std::fill(without.begin() + static_cast<std::ptrdiff_t>(begin),
              without.begin() + static_cast<std::ptrdiff_t>(end), 0);
    const std::uint64_t whole = sum(data, kWords, begin, end);
    EXPECT_EQ(whole, sum_of(without, seed)) << begin << " to " << end << ", seed " << seed;
    const std::uint64_t at = rng.below(data.size());
    data[at] = static_cast<unsigned char>(data[at] ^ (1U << rng.below(8)));
    EXPECT_EQ(sum(data, kWords, begin, end) == whole, at >= begin && at < end) << at << ", seed " << seed;
    // A tensor that ends within a word: the bytes behind it do not count.
    const std::uint64_t bytes = 1 + rng.below(data.size());
    EXPECT_EQ(sum(data, (bytes + 7) / 8, bytes, ~std::uint64_t{0}),
              sum_of(std::span(data).first(static_cast<std::size_t>(bytes)), seed))
        << bytes << ", seed " << seed;
  }
}

}  // namespace
}  // namespace lehr::emulator
