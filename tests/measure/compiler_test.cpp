// Tests of the system compiler as a Compiler: results, failures, time limit, a full disk, and the message
// without a compiler.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "host_support.h"
#include "measure/host/host_backend.h"
#include "measure/host/host_compiler.h"
#include "measure/host/processor_features.h"
#include "measure/system/process.h"
#include "runtime/cpu_features.h"
#include "target/archs.h"

namespace lehr {
namespace {

using testing::right_source;
using testing::source;

/// Returns an executable script that stands for a compiler: it does what `special` says when the source holds
/// the word SPECIAL, else it compiles.
std::string compiler_script(const TempDir& directory, const std::string& special) {
  const std::string real = find_program("c++", HostCompilerOptions{}.search_path);
  const std::string path = directory.path() + "/compiler";
  std::ofstream(path) << "#!/bin/sh\nfor word in \"$@\"; do case \"$word\" in *.cpp) "
                      << "if grep -q SPECIAL \"$word\"; then " << special << "; fi;; esac; done\nexec "
                      << real << " \"$@\"\n";
  chmod(path.c_str(), 0700);
  return path;
}

TEST(HostCompiler, CompilesInParallelAndKeepsTheOrder) {
  HostCompiler compiler;
  const std::vector<Source> sources = {right_source(), source("this is no C++;"), right_source(2)};
  const std::vector<Compiled> results = compiler.compile(sources);
  ASSERT_EQ(results.size(), 3U);
  ASSERT_TRUE(std::holds_alternative<Binary>(results[0]));
  EXPECT_TRUE(std::filesystem::exists(std::get<Binary>(results[0]).path));
  EXPECT_GT(std::get<Binary>(results[0]).resources.compile_s, 0);
  ASSERT_TRUE(std::holds_alternative<Binary>(results[2]));
  ASSERT_TRUE(std::holds_alternative<Failure>(results[1]));
  const Failure& failure = std::get<Failure>(results[1]);
  EXPECT_EQ(failure.kind, FailureKind::kCompile);
  EXPECT_NE(failure.text.substr(0, failure.text.find('\n')).find("error: "), std::string::npos)
      << failure.text;
  EXPECT_EQ(failure.text.find("/lehr-"), std::string::npos)
      << "names a temporary directory: " << failure.text;
}

TEST(HostCompiler, KeepsObjectFilesAndCompilesWhatHasOneNoMore) {
  const TempDir directory;
  HostCompilerOptions options;
  options.compiler = compiler_script(directory, "echo >>" + directory.path() + "/runs");
  options.extra_flags = {"-s"};  // without the name of the text's file
  HostCompiler compiler(options);
  const Source one = source("/* SPECIAL */ rows(a, b, c, 0, N);"),
               wrong = source("/* SPECIAL */ what is this");
  const auto bytes = [&](const Source& text) {
    const std::vector<Compiled> results = compiler.compile(std::vector<Source>{text});
    std::ifstream file(std::get<Binary>(results[0]).path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const auto runs = [&] { return std::filesystem::file_size(directory.path() + "/runs"); };
  const std::string usual = bytes(one);
  EXPECT_EQ(compiler.kept_object(one), "");
  compiler.keep_objects(1);
  EXPECT_TRUE(bytes(one) == usual);
  EXPECT_TRUE(std::filesystem::exists(compiler.kept_object(one)));
  EXPECT_EQ(runs(), 2U);
  EXPECT_TRUE(bytes(one) == usual);
  EXPECT_EQ(runs(), 2U);
  compiler.keep_objects(1 << 20);
  EXPECT_TRUE(std::holds_alternative<Failure>(compiler.compile(std::vector<Source>{wrong})[0]));
  EXPECT_EQ(compiler.kept_object(wrong), "");
  compiler.keep_objects(1);
  EXPECT_FALSE(bytes(right_source()).empty());
  bytes(right_source(2));
  EXPECT_EQ(compiler.kept_object(right_source(2)), "") << "the room is taken";
}

TEST(HostCompiler, LeavesNoFilesBehind) {
  const TempDir base;
  {
    HostCompilerOptions options;
    options.temp_base = base.path();
    HostCompiler compiler(options);
    compiler.compile(std::vector<Source>{right_source()});
  }
  for (const auto& entry : std::filesystem::directory_iterator(base.path())) {
    EXPECT_FALSE(entry.is_directory()) << entry.path();
  }
}

TEST(HostCompiler, ItsIdentityNamesVersionFlagsAndWhatNativeMeans) {
  const std::string identity = HostCompiler().identity();
  EXPECT_NE(identity.find("-O2 -march=native"), std::string::npos) << identity;
  EXPECT_NE(identity.find("[native="), std::string::npos) << identity;
  EXPECT_EQ(identity.find("[native=unknown"), std::string::npos) << identity;
  EXPECT_EQ(identity.find('\n'), std::string::npos) << identity;
  EXPECT_EQ(identity, HostCompiler().identity());
}

TEST(HostCompiler, ItsIdentityNamesALevelAndNothingOfThisMachine) {
  utsname machine;
  ASSERT_EQ(uname(&machine), 0);
  for (const IsaLevel& level : archs_of(Target::kCpu).levels) {
    HostCompilerOptions options;
    options.isa = {&level};
    if (level.machine != machine.machine) {
      EXPECT_THROW(HostCompiler compiler(options), Error) << level.name;
      continue;
    }
    const HostCompiler compiler(options);
    std::string expected = HostCompiler().identity();
    expected.replace(expected.find("native"), 6, level.name);
    expected.resize(expected.find(" [native="));
    EXPECT_EQ(compiler.identity(), expected);
    EXPECT_EQ(isa_of_identity(compiler.identity()), options.isa);
  }
}

#if defined(__x86_64__)
// Features compile, and are read back, whatever this processor has.
TEST(HostCompiler, ItsIdentityNamesFeatures) {
  HostCompilerOptions options;
  options.isa = isa_named("x86-64-v4+avx512bf16+avx512vnni");
  const HostCompiler compiler(options);
  EXPECT_THAT(compiler.identity(),
              ::testing::HasSubstr(" -O2 -march=x86-64-v4 -mavx512vnni -mavx512bf16 -ffp-contract"));
  EXPECT_EQ(isa_of_identity(compiler.identity()), options.isa);
  const std::vector<std::string> macros = compiler.macros();
  for (const IsaFeature& feature : archs_of(Target::kCpu).features)
    EXPECT_THAT(macros, ::testing::Contains(macro_of(feature.name)));
}

// The compiler behaves as g++ 9, which has no avx512bf16.
TEST(HostCompiler, AFeatureThatItDoesNotKnowIsOneSentenceAndNotNatives) {
  const TempDir directory;
  ToolPaths tools;
  tools.compiler = directory.path() + "/compiler";
  std::ofstream(tools.compiler)
      << "#!/bin/sh\nfor word in \"$@\"; do [ \"$word\" = -mavx512bf16 ] && echo \"error: unrecognized "
         "option '$word'\" >&2 && exit 1; done\nexec c++ -U__AVX512BF16__ \"$@\"\n";
  chmod(tools.compiler.c_str(), 0700);
  EXPECT_THAT(testing::error_of([&] { missing_for(isa_named("x86-64-v4+avx512bf16"), tools); }),
              ::testing::HasSubstr("cannot build a shared object with -march=x86-64-v4 -mavx512bf16: error: "
                                   "unrecognized option '-mavx512bf16'"));
  EXPECT_EQ(native_isa(tools).abilities & static_cast<int>(Ability::kBf16Dot), 0);
}

TEST(HostCompiler, NativeHasTheFeaturesThatThisProcessorHas) {
  const Isa native = native_isa({});
  EXPECT_EQ(native.level, nullptr);
  for (const IsaFeature& feature : archs_of(Target::kCpu).features) {
    const bool here = (runtime::cpu_features_here() & runtime::cpu_feature_named(feature.name)) != 0;
    EXPECT_EQ((native.abilities & static_cast<int>(feature.ability)) != 0, here) << feature.name;
  }
  EXPECT_EQ(native_isa({.compiler = "no-such-compiler"}), Isa());
  EXPECT_EQ(cpu_device(1, false, native).limits.abilities, native.abilities);
}
#endif

TEST(HostCompiler, ALevelThatItDoesNotKnowIsOneSentence) {
  const TempDir directory;
  HostCompilerOptions options;
  options.compiler = directory.path() + "/compiler";
  std::ofstream(options.compiler) << "#!/bin/sh\necho 'error: bad value for -march=' >&2\nexit 1\n";
  chmod(options.compiler.c_str(), 0700);
  options.isa = isa_named("x86-64-v4");
  try {
    HostCompiler compiler(options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_THAT(std::string(error.what()),
                ::testing::HasSubstr("cannot build a shared object with -march=x86-64-v4: error: bad value"));
  }
}

TEST(HostCompiler, AMissingCompilerIsOneSentenceThatNamesThePackage) {
  HostCompilerOptions options;
  options.search_path = {"/nonexistent"};
  try {
    HostCompiler compiler(options);
    FAIL() << "found a compiler in /nonexistent";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_STREQ(error.what(),
                 "no C++ compiler: found none of c++, g++, clang++ in /nonexistent; install one (Debian: "
                 "apt-get install g++)");
  }
}

TEST(HostCompiler, ACompilerThatCannotCompileIsTheEnvironmentsFault) {
  HostCompilerOptions options;
  options.compiler = "false";
  EXPECT_THROW(HostCompiler compiler(options), Error);
}

TEST(HostCompiler, KillsACompilationThatTakesTooLong) {
  const TempDir directory;
  HostCompilerOptions options;
  options.compiler = compiler_script(directory, "sleep 60");
  HostCompiler compiler(options);  // with a limit that a busy machine keeps
  options.time_limit_s = 2;
  HostCompiler hurried(options);
  const auto start = std::chrono::steady_clock::now();
  const std::vector<Compiled> results = hurried.compile(std::vector<Source>{source("/* SPECIAL */")});
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  ASSERT_TRUE(std::holds_alternative<Failure>(results[0]));
  EXPECT_EQ(std::get<Failure>(results[0]).kind, FailureKind::kCompileTimeout);
}

TEST(HostCompiler, EndsACompilationWhenTheTimeIsUp) {
  const TempDir directory;
  HostCompilerOptions options;
  options.compiler = compiler_script(directory, "sleep 60");
  HostCompiler compiler(options);
  const auto start = std::chrono::steady_clock::now();
  const std::vector<Source> sources(5, source("/* SPECIAL */"));
  const std::vector<Compiled> results = compiler.compile(sources, 0.5);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  for (const Compiled& one : results) {
    ASSERT_TRUE(std::holds_alternative<Failure>(one));
    EXPECT_EQ(std::get<Failure>(one).kind, FailureKind::kInterrupted) << "it says nothing of the candidate";
    EXPECT_EQ(std::get<Failure>(one).text, kCompiledTooLate);
  }
}

TEST(HostCompiler, HoldsACompilerToItsMemory) {
  const TempDir directory;
  HostCompilerOptions options;
  // tail keeps a line until it ends, and this one never does.
  options.compiler = compiler_script(directory, "tail </dev/zero; exit 1");
  options.memory_bytes = 256 << 20;
  HostCompiler compiler(options);
  const std::vector<Compiled> results =
      compiler.compile(std::vector<Source>{right_source(), source("/* SPECIAL */")});
  EXPECT_TRUE(std::holds_alternative<Binary>(results[0]));
  ASSERT_TRUE(std::holds_alternative<Failure>(results[1]));
  EXPECT_EQ(std::get<Failure>(results[1]).kind, FailureKind::kOutOfMemory)
      << std::get<Failure>(results[1]).text;
}

TEST(HostCompiler, ACompilerThatIsEndedFromOutsideSaysNothingOfTheCandidate) {
  const TempDir directory;
  for (const char* how : {"kill -9 $$", "kill -TERM $$",
                          "echo 'c++: fatal error: Killed signal terminated program cc1plus'; exit 1",
                          "echo 'clang: error: unable to execute command: Terminated'; exit 254"}) {
    HostCompilerOptions options;
    options.compiler = compiler_script(directory, how);
    HostCompiler compiler(options);
    const std::vector<Compiled> results = compiler.compile(std::vector<Source>{source("/* SPECIAL */")});
    ASSERT_TRUE(std::holds_alternative<Failure>(results[0])) << how;
    EXPECT_EQ(std::get<Failure>(results[0]).kind, FailureKind::kInterrupted) << how;
  }
  HostCompilerOptions options;
  options.compiler = compiler_script(directory, "kill -SEGV $$");
  HostCompiler compiler(options);
  const std::vector<Compiled> results = compiler.compile(std::vector<Source>{source("/* SPECIAL */")});
  EXPECT_EQ(std::get<Failure>(results[0]).kind, FailureKind::kCompile);
}

TEST(HostCompiler, MayBeSeveralWords) {
  const TempDir directory;
  const std::string launcher = directory.path() + "/launcher";
  std::ofstream(launcher) << "#!/bin/sh\nexec \"$@\"\n";
  chmod(launcher.c_str(), 0700);
  HostCompilerOptions options;
  options.compiler = launcher + "  c++ -DWORD=1";
  HostCompiler compiler(options);
  EXPECT_NE(compiler.identity().find("-DWORD=1"), std::string::npos) << compiler.identity();
  const std::vector<Compiled> results =
      compiler.compile(std::vector<Source>{source("static_assert(WORD == 1); rows(a, b, c, 0, N);")});
  EXPECT_TRUE(std::holds_alternative<Binary>(results[0])) << std::get<Failure>(results[0]).text;
}

// Nobody is left to kill a compiler whose tuner was killed: the kernel ends it.
TEST(Processes, AreHeldToTheirProcessorTimeByTheKernel) {
  SpawnOptions spins = {{"/bin/sh", "-c", "while :; do :; done"}, {}, {}};
  spins.cpu_s = 1;
  const Captured run = run_captured(spins, deadline_in(60));
  EXPECT_FALSE(run.timed_out);
  EXPECT_NE(describe_exit(run.status).find("SIGKILL"), std::string::npos) << describe_exit(run.status);
}

TEST(HostCompiler, AFullDiskIsNoCandidatesFault) {
  const TempDir directory;
  HostCompilerOptions options;
  options.compiler =
      compiler_script(directory, "echo '/usr/bin/ld: final link failed: No space left on device'; exit 1");
  HostCompiler compiler(options);
  try {
    compiler.compile(std::vector<Source>{right_source(), source("/* SPECIAL */")});
    FAIL() << "a full disk went unnoticed";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_NE(std::string(error.what()).find("no space left on "), std::string::npos) << error.what();
  }
}

TEST(TempDirs, WhatADeadProcessLeftIsSweptAwayAndWhatIsInUseStays) {
  const TempDir base;
  const std::string abandoned = base.path() + "/lehr-abcdef";
  std::filesystem::create_directory(abandoned);
  std::ofstream(abandoned + "/in-use") << "";
  const TempDir in_use(base.path());
  const auto old = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  std::filesystem::last_write_time(in_use.path(), old);
  // Folders that have no name yet: one is being made, the maker of the other died.
  const std::string young = base.path() + "/.lehr-abcdef", unnamed = base.path() + "/.lehr-ghijkl";
  for (const std::string& each : {young, unnamed}) {
    std::filesystem::create_directory(each);
    std::ofstream(each + "/in-use") << "";
  }
  std::filesystem::last_write_time(unnamed, old);
  const TempDir another(base.path());
  EXPECT_FALSE(std::filesystem::exists(abandoned));
  EXPECT_TRUE(std::filesystem::exists(in_use.path()));
  EXPECT_TRUE(std::filesystem::exists(young));
  EXPECT_FALSE(std::filesystem::exists(unnamed));
}

TEST(Processes, AreDescribedByHowTheyEnded) {
  const auto run = [](const std::string& script) {
    return describe_exit(run_captured({{"/bin/sh", "-c", script}, {}, {}}, deadline_in(30)).status);
  };
  EXPECT_EQ(run("exit 3"), "exited with status 3");
  EXPECT_EQ(run("kill -SEGV $$"), "SIGSEGV (invalid memory access)");
  EXPECT_EQ(run("kill -FPE $$"), "SIGFPE (integer division by zero or overflow)");
}

TEST(Processes, GetTheEnvironmentThatTheyAreGiven) {
  const Captured run =
      run_captured({{"/bin/sh", "-c", "echo $LEHR_TEST_WORD; echo oops >&2"}, {"LEHR_TEST_WORD=glass"}, {}},
                   deadline_in(30));
  EXPECT_TRUE(run.succeeded());
  EXPECT_EQ(run.output, "glass\noops\n");
}

}  // namespace
}  // namespace lehr
