// Tests of the kernels that make inputs and check outputs on the device. They are compared with the host's
// arithmetic.
#include "measure/cuda/check_kernels.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
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
constexpr std::int64_t kMost = 700;  // number of elements: several for each thread

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

/// The types of an output and of its expected values.
struct Compared {
  DType type, as;
};

std::vector<Compared> compared_types() {
  std::vector<Compared> all;
  for (const DType type : all_dtypes())
    all.push_back({type, type == DType::kS64 ? DType::kS64 : DType::kF32});
  for (const DType type : {DType::kF64, DType::kS32, DType::kU32}) all.push_back({type, DType::kF64});
  return all;
}

Source compare_source(Compared of, std::int64_t elements) {
  return source_of(compare_entry(of.type, of.as),
                   {{"output", of.type, elements, ir::Direction::kIn},
                    {"expected", DType::kU32, elements * size_of(of.as) / 4, ir::Direction::kIn},
                    words("job", 4, ir::Direction::kIn),
                    words("partials", kBlocks * 8, ir::Direction::kOut)});
}

Source sum_source(std::int64_t count) {
  return source_of("lehr_sum", {words("data", count, ir::Direction::kIn),
                                words("job", sizeof(SumJob) / 8, ir::Direction::kIn),
                                words("partials", kBlocks, ir::Direction::kOut)});
}

Source total_source() {
  return source_of(
      "lehr_total",
      {words("compared", kBlocks * 8, ir::Direction::kIn), words("summed", kBlocks, ir::Direction::kIn),
       words("job", 3, ir::Direction::kIn), words("result", 10, ir::Direction::kOut)},
      1);
}

/// Computes the same sum as lehr_sum. The last word is filled up with zeros.
std::uint64_t sum_of(std::span<const unsigned char> bytes, std::uint64_t seed) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; 8 * i < bytes.size(); ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + 8 * i, std::min<std::size_t>(8, bytes.size() - 8 * i));
    sum += mix64(word ^ (seed + (i + 1) * kSplitmixStep));
  }
  return sum;
}

/// Returns the result of the last kernel for partial results.
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

/// One output. It is right everywhere, or has faults of all kinds at random positions, usually few.
struct Case {
  Argument output;
  Bytes got;
  Bytes expected;  ///< an entry for each element; nothing_expected() if no value is expected
};

Case make_case(Compared of, bool right, Rng& rng) {
  Case one;
  const DType type = of.type;
  const double absolute = is_integer(type) ? 0 : rng.uniform() * 0.01;
  const double relative = is_integer(type) || rng.below(2) == 0 ? 0 : rng.uniform() * 0.001;
  one.output = {.name = "y",
                .type = type,
                .elements = kMost,
                .role = Role::kOut,
                .absolute = absolute,
                .relative = relative,
                .expected_as = of.as};
  one.got.resize(static_cast<std::size_t>(kMost * size_of(type)));
  one.expected.resize(static_cast<std::size_t>(kMost * size_of(of.as)), nothing_expected(of.as));
  const bool some = rng.below(2) == 0;                             // faults only in some rows
  const std::uint64_t faulty = std::uint64_t{1} << rng.below(14);  // one element in this many is faulty
  const double scales[] = {1, 1e-6, 300, 70000};
  // Values that floats cannot hold must be compared exactly, too.
  const double large = of.as == DType::kF32 ? 0 : type == DType::kS64 ? 0x1p52 : 0x1p30;
  for (std::int64_t i = 0; i < kMost; ++i) {
    unsigned char* at = one.got.data() + i * size_of(type);
    double value =
        static_cast<double>(drawn_value(DType::kF32, {}, static_cast<std::int64_t>(rng.below(kInputSteps)))) *
        scales[right ? 0 : rng.below(4)];
    if (is_integer(type)) value = std::nearbyint(value + large);
    if (of.as == DType::kF32) value = static_cast<double>(static_cast<float>(value));
    if (right) {  // a value that the type can hold
      store_element(type, value, at);
      value = load_element(type, at, 0);
    }
    double got = value + (2 * rng.uniform() - 1) * (absolute + relative * std::fabs(value));
    if (is_integer(type) || right) got = value;
    if (!right && rng.below(faulty) == 0) {
      const double wrong[] = {value + 1, std::numeric_limits<double>::quiet_NaN(), 0,
                              std::numeric_limits<double>::infinity(), -value};
      got = wrong[rng.below(5)];
    }
    store_element(type, got == got || !is_integer(type) ? got : 0, at);
    if (!right && rng.below(faulty) == 0)
      std::memset(at, kPoisonByte, static_cast<std::size_t>(size_of(type)));
    if (some && (i / 50) % 3 == 1) continue;
    unsigned char* const expected = one.expected.data() + i * size_of(of.as);
    store_element(of.as, value, expected);
    one.output.expected.insert(one.output.expected.end(), expected, expected + size_of(of.as));
    one.output.indices.push_back(i);
  }
  if (!some) one.output.indices.clear();
  return one;
}

TEST(CheckKernels, FindWhatTheHostFinds) {
  const std::uint64_t seed = lehr::testing::test_seed(1);
  Rng rng(seed);
  const std::vector<Compared> types = compared_types();
  std::vector<Source> sources;
  for (const Compared& of : types) sources.push_back(compare_source(of, kMost));
  sources.push_back(total_source());
  const Program program(sources);
  constexpr int kRounds = 12;
  int faults = 0;
  for (int round = 0; round < kRounds; ++round)
    for (std::size_t t = 0; t < types.size(); ++t) {
      SCOPED_TRACE(fmt::format("{} as {}, seed {}", name_of(types[t].type), name_of(types[t].as), seed));
      const bool right = round % 4 == 0;
      const Case one = make_case(types[t], right, rng);
      const CompareJob job = {kMost, one.output.absolute, seed, one.output.relative};
      const Result run = program.run_bytes(t, {one.got, one.expected, bytes_of(job)});
      ASSERT_FALSE(run.fault) << *run.fault;
      const CheckResult result =
          total(program, sources.size() - 1, run.output_bytes.at(0), Bytes(kBlocks * sizeof(std::uint64_t)));
      const Findings seen = findings_of(result, kMost);
      const Comparison host = compare_output(one.output, "", one.got.data());
      const std::int64_t at = std::max<std::int64_t>(seen.first_wrong, 0);
      EXPECT_EQ(fault_of(seen, one.output, "", load_element(types[t].type, one.got.data(), at),
                         load_element(types[t].as, one.expected.data(), at)),
                host.fault);
      EXPECT_EQ(seen.max_error, host.max_error);
      EXPECT_EQ(seen.compared, one.output.expected_count());
      // The sum over the bits of the expected values, each as a 64-bit word.
      Bytes wide(static_cast<std::size_t>(kMost) * 8);
      const auto size = static_cast<std::size_t>(size_of(types[t].as));
      for (std::size_t i = 0; i < static_cast<std::size_t>(kMost); ++i)
        std::memcpy(&wide[8 * i], &one.expected[size * i], size);
      EXPECT_EQ(result.expected_sum, sum_of(wide, seed));
      if (right) {
        EXPECT_EQ(host.fault, "");
      }
      faults += host.fault.empty() ? 0 : 1;
    }
  EXPECT_GT(faults, 20) << "seed " << seed;
}

TEST(CheckKernels, SumEveryBitButThoseOfHoles) {
  const std::uint64_t seed = lehr::testing::test_seed(1);
  Rng rng(seed);
  constexpr std::int64_t kWords = 301;
  const Program program(std::vector<Source>{sum_source(kWords), total_source()});
  using Holes = std::vector<SumJob::Hole>;
  const auto sum = [&](const Bytes& data, std::uint64_t words, const Holes& holes) {
    SumJob job{seed, words, holes.size()};
    std::ranges::copy(holes, job.holes.begin());
    const Result run = program.run_bytes(0, {data, bytes_of(job)});
    EXPECT_FALSE(run.fault) << *run.fault;
    return total(program, 1, Bytes(kBlocks * 8 * sizeof(std::uint64_t)), run.output_bytes.at(0)).sum;
  };
  for (int round = 0; round < 30; ++round) {
    Bytes data(kWords * 8);
    for (unsigned char& byte : data) byte = static_cast<unsigned char>(rng.next());
    Holes holes;
    Bytes without = data;
    const std::uint64_t count = rng.below(4);
    for (std::uint64_t h = 0; h < count; ++h) {
      const std::uint64_t begin = rng.below(data.size()),
                          end = begin + rng.below(data.size() + 1 - begin) / 4;
      holes.push_back({begin, end});
      std::fill(without.begin() + static_cast<std::ptrdiff_t>(begin),
                without.begin() + static_cast<std::ptrdiff_t>(end), 0);
    }
    const std::uint64_t whole = sum(data, kWords, holes);
    EXPECT_EQ(whole, sum_of(without, seed)) << holes.size() << " holes, seed " << seed;
    const std::uint64_t at = rng.below(data.size());
    data[at] = static_cast<unsigned char>(data[at] ^ (1U << rng.below(8)));
    const bool hidden = std::ranges::any_of(
        holes, [at](const SumJob::Hole& hole) { return at >= hole.begin && at < hole.end; });
    EXPECT_EQ(sum(data, kWords, holes) == whole, hidden) << at << ", seed " << seed;
    // If a tensor ends within a word, the bytes after its end do not count.
    const std::uint64_t bytes = 1 + rng.below(data.size());
    EXPECT_EQ(sum(data, (bytes + 7) / 8, {{bytes, ~std::uint64_t{0}}}),
              sum_of(std::span(data).first(static_cast<std::size_t>(bytes)), seed))
        << bytes << ", seed " << seed;
  }
}

}  // namespace
}  // namespace lehr::emulator
