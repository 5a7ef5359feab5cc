#include "cpu_runs.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "base/error.h"
#include "base/hash.h"
#include "base/rng.h"
#include "codegen/emit.h"
#include "codegen/sequence.h"
#include "cpu_problems.h"
#include "measure/core/check.h"
#include "measure/core/element.h"
#include "templates/catalog.h"
#include "templates/shared/epilogue_pass.h"
#include "tests/support/guarded.h"
#include "tests/support/problem_for.h"
#include "tests/support/sample_config.h"

namespace lehr::testing {
namespace {

struct Candidate {
  Workload workload;
  Config config;
  Source source;
};

// Compiles one shared object for all candidates: starting the compiler would take as long as one of them. At
// -Og each is compiled in less than half of the time of -O1.
std::filesystem::path compile_all(const std::vector<Candidate>& candidates,
                                  const std::filesystem::path& dir) {
  std::ofstream text(dir / "all.cpp");
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    text << "namespace k" << i << " {\n" << candidates[i].source.text << "}\n";
  }
  text.close();
  const auto object = dir / "all.so";
  const std::string command =
      fmt::format("g++ -Og -march=native -ffp-contract=fast -shared -fPIC -w -Wno-psabi -o {} {}",
                  object.string(), (dir / "all.cpp").string());
  CHECK(std::system(command.c_str()) == 0, "{}", command);
  return object;
}

using Entry = void (*)(void* const*, void*, long);

/// Returns the workload's tensors, the output filled with NaN, and the arguments behind them.
std::vector<Guarded> tensors_for(const Candidate& candidate, const Problem& problem) {
  std::vector<Guarded> tensors;
  for (const Argument& argument : problem.arguments) {
    Guarded& guarded = tensors.emplace_back(static_cast<std::size_t>(argument.bytes()));
    std::fill_n(guarded.data(), guarded.size(), 0xff);
    std::ranges::copy(argument.values, guarded.data());
  }
  const auto add = [&](std::int64_t bytes, unsigned char value) {
    std::fill_n(tensors.emplace_back(static_cast<std::size_t>(bytes)).data(), bytes, value);
  };
  for (const std::int64_t bytes : prepacked_bytes(candidate.source)) add(bytes, 0xff);
  for (const std::int64_t bytes : workspace_bytes(candidate.source)) add(bytes, 0xff);
  return tensors;
}

/// Runs a candidate and compares its output. `workload` has the rows of the call.
void run_and_compare(const Candidate& candidate, const Workload& workload, Entry prepack, Entry entry) {
  const Problem problem = problem_for(workload, 9);
  std::vector<Guarded> tensors = tensors_for(candidate, problem);
  std::vector<char> scratch(static_cast<std::size_t>(candidate.source.scratch_bytes) + 128, '\xff');  // NaNs
  void* aligned = scratch.data();
  std::size_t room = scratch.size();
  ASSERT_NE(std::align(64, static_cast<std::size_t>(candidate.source.scratch_bytes), aligned, room), nullptr);
  std::vector<void*> params;
  for (Guarded& tensor : tensors) params.push_back(tensor.data());
  std::int64_t rows = rows_of(workload);
  if (candidate.source.most_rows > 0) params.push_back(&rows);
  ASSERT_TRUE(touches_nothing_else([&] {
    for (long work_item = candidate.source.launch.prepack_work_items - 1; work_item >= 0; --work_item)
      prepack(params.data(), nullptr, work_item);
    const ir::Launch& launch = candidate.source.launch;
    for (long step = 0; step < launch.steps(); ++step)
      for (long work_item = launch.work_items - 1; work_item >= 0; --work_item)
        entry(params.data(), aligned, step * launch.work_items + work_item);
  })) << "read or wrote behind the end of a tensor";
  for (Guarded& tensor : tensors) EXPECT_TRUE(tensor.intact()) << "wrote outside its buffers";
  for (const std::size_t output : outputs_of(problem))
    EXPECT_EQ(compare_output(problem.arguments[output], named_output(problem, output), tensors[output].data())
                  .fault,
              "");
}

Source numbered(ir::Kernel kernel, std::size_t number, const char* stem) {
  kernel.name = fmt::format("{}{}", stem, number);
  return emit(kernel);
}

/// Returns a sampled config; a `wanted` one if any of many draws is.
std::optional<Config> sample(const FamilySpace& family, Rng& rng,
                             const std::function<bool(const Config&)>& wanted) {
  std::optional<Config> config = testing::sample_config(family, rng);
  for (int draw = 0; wanted && config && !wanted(*config) && draw < 20000; ++draw)
    config = testing::sample_config(family, rng);
  return config;
}

bool is_of_f32(const Workload& workload) {
  return std::ranges::all_of(tensors_of(workload),
                             [](const TensorSpec& tensor) { return tensor.type == DType::kF32; });
}

std::vector<Candidate> candidates_of(const std::vector<std::string>& texts, int each, Rng& rng,
                                     const MakeSource& source_of, const char* only,
                                     const std::function<bool(const Config&)>& wanted) {
  std::vector<Candidate> candidates;
  // The widest vectors that this processor runs; narrower ones are points of the same space.
  const int vector_bytes = __builtin_cpu_supports("avx512f") ? 64 : __builtin_cpu_supports("avx2") ? 32 : 16;
  for (const std::string& text : texts) {
    Limits limits = cpu_limits(vector_bytes, 1 + static_cast<int>(rng.below(3)));
    const Workload workload = parse_workload(text);
    if (!is_of_f32(workload)) {
      // The text must be right whatever processor runs it.
      limits = cpu_limits(wanted ? 64 : std::vector<int>{16, 32, 64}[rng.below(3)], limits.cores);
      if (wanted || rng.below(2) == 0)
        limits.abilities = static_cast<int>(Ability::kBf16Dot) | static_cast<int>(Ability::kInt8Dot);
    }
    const Space space = only == nullptr ? kernel_space(workload, limits).space
                                        : Space({template_named(only).space(workload, limits)});
    for (std::size_t i = 0; i < static_cast<std::size_t>(each) * space.families().size(); ++i) {
      const std::optional<Config> config = sample(space.families()[i % space.families().size()], rng, wanted);
      CHECK(config && (!wanted || wanted(*config)), "{}", text);
      candidates.push_back({workload, *config, source_of(workload, *config, limits, candidates.size())});
    }
  }
  return candidates;
}

/// Returns the calls of a candidate. A kernel for fixed rows has one. A kernel for any number of rows is
/// called with as many as it was made for, with fewer and with more. Else there is a call with each number up
/// to 70, and with some above.
std::vector<Workload> calls_of(const Candidate& candidate) {
  const std::int64_t most = candidate.source.most_rows;
  if (most == 0) return {candidate.workload};
  const std::int64_t made_for = call_rows(candidate.workload).most;
  if (most > made_for)
    return {with_rows(candidate.workload, made_for), with_rows(candidate.workload, (made_for + 1) / 2),
            with_rows(candidate.workload, made_for + 3)};
  Rng rng(stable_hash(to_text(candidate.config)));
  std::vector<Workload> calls;
  for (std::int64_t rows = 1; rows <= std::min<std::int64_t>(most, 70); ++rows)
    calls.push_back(with_rows(candidate.workload, rows));
  for (int i = 0; i < 8 && most > 70; ++i)
    calls.push_back(with_rows(candidate.workload, 71 + static_cast<std::int64_t>(rng.below(
                                                           static_cast<std::uint64_t>(most - 70)))));
  return calls;
}

void load_and_compare(void* library, const Candidate& candidate) {
  void* prepack = ::dlsym(library, prepack_entry(candidate.source.entry).c_str());
  ASSERT_EQ(prepack != nullptr, candidate.source.launch.prepack_work_items > 0);
  void* entry = ::dlsym(library, candidate.source.entry.c_str());
  ASSERT_NE(entry, nullptr) << candidate.source.entry;
  for (const Workload& workload : calls_of(candidate)) {
    SCOPED_TRACE(rows_of(workload));
    run_and_compare(candidate, workload, reinterpret_cast<Entry>(prepack), reinterpret_cast<Entry>(entry));
  }
}

}  // namespace

Source fused(const Workload& workload, const Config& config, const Limits& limits, std::size_t number) {
  return numbered(lower(workload, config, limits), number, "entry");
}

Source unfused(const Workload& workload, const Config& config, const Limits& limits, std::size_t number) {
  const Workload plain = {workload.problem, {}};
  const Template& family = template_named(config.family);
  // With a pool an image may be seen in another way than without it.
  const bool is_of_plain = !family.space(plain, limits).why_invalid(config);
  const ir::Kernel product = with_epilogue_operands(
      lower(plain, is_of_plain ? config : testing::default_of(family, plain, limits), limits), workload);
  return in_sequence(numbered(product, number, "entry"),
                     numbered(lower_epilogue_pass(workload, limits, product), number, "pass"));
}

void expect_right(const std::vector<std::string>& texts, int each, std::uint64_t seed,
                  const MakeSource& source_of, const char* only,
                  const std::function<bool(const Config&)>& wanted) {
  Rng rng(seed);
  const std::vector<Candidate> candidates = candidates_of(texts, each, rng, source_of, only, wanted);
  char dir_name[] = "/tmp/lehr_cpu_families_XXXXXX";
  const std::filesystem::path dir = ::mkdtemp(dir_name);
  void* library = ::dlopen(compile_all(candidates, dir).c_str(), RTLD_NOW);
  ASSERT_NE(library, nullptr) << ::dlerror();
  for (const Candidate& candidate : candidates) {
    SCOPED_TRACE(fmt::format("seed {} {}: {}", seed, to_text(candidate.workload), to_text(candidate.config)));
    load_and_compare(library, candidate);
  }
  ::dlclose(library);
  std::filesystem::remove_all(dir);
}

}  // namespace lehr::testing
