// `--isa` from the flag to a library that machines of several levels load.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "cli/device_flags.h"
#include "measure/vendor/bundle/exported_library.h"
#include "runtime/cpu_features.h"
#include "support.h"

namespace lehr::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// Returns the levels of this machine's architecture, the lower ones first.
std::vector<std::string> levels_here() {
  std::vector<std::string> names;
  for (const Target target : kTargets)
    for (const IsaLevel& level : archs_of(target).levels)
      if (level.machine == runtime::cpu_machine()) names.emplace_back(level.name);
  return names;
}

/// Returns levels_here() without the levels for which this processor lacks something, as `lehr doctor` says.
std::vector<std::string> levels_that_run() {
  const std::string text = describe_isa_levels({}) + ", ";
  std::vector<std::string> names;
  for (const std::string& name : levels_here())
    if (text.find(" " + name + ", ") != std::string::npos &&
        text.find("not " + name + " ") == std::string::npos)
      names.push_back(name);
  return names;
}

std::string isa_finding(const json& doctor) {
  for (const json& finding : doctor["findings"])
    if (finding["what"] == "--isa") return finding["text"];
  return "";
}

TEST(Isa, IsInTheHelpOfWhateverTakesIt) {
  const Scratch scratch;
  for (const char* command : {"tune gemm --help", "bench gemm --help", "check gemm --help", "compile --help",
                              "show --help", "export --help"}) {
    const Ran ran = run_lehr(words(command), scratch.path());
    EXPECT_EQ(ran.code, 0) << command;
    for (const std::string& level : levels_here()) EXPECT_THAT(ran.out, HasSubstr(level)) << command;
  }
}

TEST(Isa, ThePageOnBundlesHasEveryLevelAndFeature) {
  std::ifstream file(LEHR_SOURCE_DIR "/docs/deploy.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (const Target target : kTargets) {
    for (const IsaFeature& feature : archs_of(target).features)
      EXPECT_THAT(text, HasSubstr(fmt::format("| `+{}` | `{}`", feature.name, feature.level)));
    for (const IsaLevel& level : archs_of(target).levels) {
      const std::string row = fmt::format("| {} | `{}` |", level.machine, level.arch);
      bool found = false;
      std::istringstream lines(text);
      for (std::string line; std::getline(lines, line);)
        found |= line.ends_with(row) && line.find(fmt::format("`{}`", level.name)) != std::string::npos;
      EXPECT_TRUE(found) << level.name << " ... " << row;
    }
  }
}

TEST(Isa, DoctorNamesEachLevelAndFeatureAndTheLowestRuns) {
  const std::string text = describe_isa_levels({});
  for (const std::string& level : levels_here()) EXPECT_THAT(text, HasSubstr(level));
  for (const IsaFeature& feature : archs_of(Target::kCpu).features) {
    const std::string name = fmt::format("{}+{}", feature.level, feature.name);
    const bool here = isa_level_named(feature.level)->machine == runtime::cpu_machine();
    EXPECT_EQ(text.find(name) != std::string::npos, here) << name;
  }
  EXPECT_THAT(levels_that_run(), ::testing::Contains(levels_here()[0]));
}

#if defined(__x86_64__)
// The compiler takes a level for more than any processor has: Intel's have one half of it, AMD's the other.
TEST(Isa, ALevelThatCannotBeRunIsRefusedInOneSentence) {
  const Scratch scratch, empty;
  const std::string compiler = (scratch.path() / "new++").string();
  std::ofstream(compiler) << "#!/bin/sh\nexec c++ \"$@\" -mamx-tile -mavx512vp2intersect\n";
  std::filesystem::permissions(compiler, std::filesystem::perms::owner_all);
  const std::vector<std::string> environment = {"CXX=" + compiler};
  const Ran ran =
      run_lehr(words("tune gemm --m 8 --n 8 --k 8 --trials 1 --isa x86-64"), empty.path(), {}, environment);
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err,
              ::testing::ContainsRegex("--isa x86-64 cannot be used: its kernels need [a-z0-9-]+, which"));
  EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
  EXPECT_TRUE(std::filesystem::is_empty(empty.path()));
  const json doctor = parsed(run_lehr(words("doctor --json"), empty.path(), {}, environment));
  EXPECT_THAT(isa_finding(doctor), ::testing::ContainsRegex("native, not x86-64 \\(no "));
}
#endif

#if defined(__x86_64__)
TEST(Isa, AFeatureThatIsNoneIsRefusedInOneSentence) {
  const Scratch scratch;
  for (const char* command : {"tune gemm --m 8 --n 8 --k 8 --isa x86-64-v4+avx512vni",
                              "show gemm --m 8 --n 8 --k 8 --isa x86-64-v4+avx512vni",
                              "export --out winners --isa x86-64-v4+avx512vni"}) {
    const Ran ran = run_lehr(words(command), scratch.path());
    EXPECT_EQ(ran.code, 1) << command;
    EXPECT_THAT(ran.err, HasSubstr("did you mean avx512vnni?"));
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
  }
}

// Either this processor has the feature, and the identity says so, or `lehr` refuses it.
TEST(Isa, AFeatureIsAskedOfTheProcessor) {
  const Scratch scratch;
  const Ran ran = run_lehr(words("tune gemm --m 8 --n 8 --k 8 --threads 1 --trials 1 --no-baseline --quiet "
                                 "--json --isa x86-64-v4+avx512vnni"),
                           scratch.path());
  const auto needed = runtime::cpu_feature_named("avx512vnni") | runtime::cpu_feature_named("avx512vl");
  if ((runtime::cpu_features_here() & needed) == needed) {
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(std::string(parsed(ran)["identity"]), HasSubstr("-march=x86-64-v4 -mavx512vnni "));
  } else {
    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.err, HasSubstr("--isa x86-64-v4+avx512vnni cannot be used: its kernels need avx512"));
  }
}
#endif

TEST(Isa, ACompilerWithoutTheLevelIsSaidSo) {
  const Scratch scratch;
  const std::string compiler = (scratch.path() / "old++").string();
  const std::string level = levels_here().back();
  std::ofstream(compiler)
      << "#!/bin/sh\nfor word in \"$@\"; do [ \"$word\" = -march=" << level
      << " ] && echo \"error: bad value for -march\" >&2 && exit 1; done\nexec c++ \"$@\"\n";
  std::filesystem::permissions(compiler, std::filesystem::perms::owner_all);
  const Ran ran = run_lehr(words("tune gemm --m 8 --n 8 --k 8 --trials 1 --isa " + level), scratch.path(), {},
                           {"CXX=" + compiler});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("with -march=" + level + ": error: bad value"));
  EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
  const json doctor = parsed(run_lehr(words("doctor --json"), scratch.path(), {}, {"CXX=" + compiler}));
  EXPECT_THAT(isa_finding(doctor), HasSubstr("not " + level + " ("));
}

/// Runs `lehr` in `folder` and returns its stdout.
json done(const Scratch& folder, const std::string& line) {
  const Ran ran = run_lehr(words(line), folder.path(), {},
                           line.starts_with("export") ? kept_compiler() : std::vector<std::string>{});
  EXPECT_EQ(ran.code, 0) << line << "\n" << ran.err;
  return parsed(ran);
}

/// Returns the features of the library's kernel for that level, separated by blanks.
std::string features_in(const std::filesystem::path& folder, const std::string& level) {
  std::ifstream file(folder / "manifest.json");
  const json function = json::parse(file)["functions"].at(0);
  std::string text;
  for (const json& kernel : function["kernels"])
    if (kernel["device"].get<std::string>().find("-march=" + level + " ") != std::string::npos)
      for (const json& feature : kernel["features"]) text += feature.get<std::string>() + " ";
  return text;
}

/// Returns the time of the product on a processor with these features, behind a self-test.
double time_of(const ExportedLibrary& library, const char* features) {
  kernels_options options = {};
  options.features = features;
  options.self_test = 1;
  return library.answer(parse_workload("gemm m=48 n=64 k=64"), options).row.time_us;
}

// Two levels are tuned, exported alone and together, and opened by a processor of each.
TEST(Isa, OneLibraryOfTwoLevelsServesProcessorsOfBoth) {
  std::vector<std::string> levels = levels_that_run();
  std::erase(levels, "x86-64-v4");
  if (levels.size() < 2) GTEST_SKIP() << "this processor runs one level alone";
  const std::string lower = levels[levels.size() - 2], higher = levels.back();
  const Scratch scratch;
  const Ran none = run_lehr(words("export --out bundle --isa " + lower), scratch.path());
  EXPECT_NE(none.code, 0);
  std::map<std::string, double> times;
  for (const std::string& level : {lower, higher}) {
    const json summary = done(scratch,
                              "tune gemm --m 48 --n 64 --k 64 --threads 1 --trials 1 --time 100ms "
                              "--no-baseline --quiet --json --isa " +
                                  level);
    EXPECT_THAT(std::string(summary["identity"]), HasSubstr("-march=" + level + " "));
    times[level] = summary["best"]["time_us"];
  }
  EXPECT_EQ(parsed(run_lehr(words("best --json"), scratch.path())).size(), 2u);
  EXPECT_EQ(done(scratch, "export --json --out newer --isa " + higher)["kernels"], 1);
  EXPECT_EQ(done(scratch, "export --json --out both")["kernels"], 2);
  for (const std::string& level : {lower, higher}) {
    const json shown = done(scratch, "show gemm --m 48 --n 64 --k 64 --as log --json --isa " + level);
    EXPECT_THAT(shown.dump(), HasSubstr("-march=" + level + " "));
    EXPECT_EQ(shown["as_measured"], true);
  }
  const Ran missing = run_lehr(words("export --out native --isa native"), scratch.path());
  EXPECT_EQ(missing.code, 3);
  EXPECT_THAT(missing.err, HasSubstr("lehr tune gemm ... --isa native --db"));
  EXPECT_FALSE(std::filesystem::exists(scratch.path() / "native"));

  const std::string allowed = features_in(scratch.path() / "both", lower);
  const ExportedLibrary both((scratch.path() / "both").string());
  EXPECT_NEAR(time_of(both, allowed.c_str()), times[lower], 1e-6 * times[lower]);
  EXPECT_NEAR(time_of(both, nullptr), std::min(times[lower], times[higher]), 1e-6 * times[lower]);
  const ExportedLibrary newer((scratch.path() / "newer").string());
  kernels_options old = {};
  old.features = allowed.c_str();
  std::string why_not;
  EXPECT_EQ(newer.context(old, why_not), nullptr);
  EXPECT_THAT(
      why_not,
      ::testing::ContainsRegex(
          "the kernel for .* needs [a-z0-9., ]+ and [a-z0-9.]+, which the processor lacks .*--isa x86-64-v"));
}

// Clang's builtins take other pointers than GCC's, and not for every number of lanes.
TEST(Isa, ClangCompilesKernelsOfAllLanesForEachLevel) {
  if (std::system("command -v clang++ >/dev/null") != 0) GTEST_SKIP() << "clang++ is not installed";
  const Scratch scratch;
  for (const std::string& level : levels_here()) {
    const Ran ran =
        run_lehr(words(fmt::format("check gemm --m 35 --n 129 --k 67 --device cpu --samples 12 --seed 3 "
                                   "--epilogue bias --isa {}",
                                   level)),
                 scratch.path(), {}, {"CXX=clang++"});
    if (ran.code == 2) continue;  // this processor does not run the level
    EXPECT_EQ(ran.code, 0) << level << ran.err;
  }
}

}  // namespace
}  // namespace lehr::testing
