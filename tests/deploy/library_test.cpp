// Tests of exported libraries: every kind of kernel, called as a program calls it, against the reference.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "measure/core/check.h"
#include "measure/core/element.h"
#include "measure/host/cpu_device.h"
#include "measure/host/host_compiler.h"
#include "measure/host/processor_features.h"
#include "runtime/cpu_features.h"
#include "templates/catalog.h"
#include "tests/deploy/exported.h"
#include "tests/support/guarded.h"
#include "tests/support/problem_for.h"
#include "workload/operator.h"

namespace lehr {
namespace {

using lehr::testing::Aligned;
using lehr::testing::exported;
using lehr::testing::Guarded;
using lehr::testing::LoadedLibrary;
using ::testing::AllOf;
using ::testing::HasSubstr;

using Bytes = std::vector<unsigned char>;

/// Tensors of a problem on memory that ends with them; the output is poisoned.
struct Tensors {
  Problem problem;
  std::vector<Guarded> memory;

  explicit Tensors(const Workload& workload) : problem(problem_for(workload, 9)) {
    for (const Argument& argument : problem.arguments) {
      Guarded& one = memory.emplace_back(static_cast<std::size_t>(argument.bytes()));
      std::fill_n(one.data(), one.size(), kPoisonByte);
      std::ranges::copy(argument.values, one.data());
    }
  }
  std::vector<void*> pointers() const {
    std::vector<void*> all;
    for (const Guarded& one : memory) all.push_back(one.data());
    return all;
  }
  Bytes output() const {
    const Guarded& one = memory[output_of(problem)];
    return {one.data(), one.data() + one.size()};
  }
  /// Compares the output with the reference.
  void expect_right() const {
    for (const Guarded& one : memory) EXPECT_TRUE(one.intact()) << "writes before a tensor's begin";
    EXPECT_EQ(compare_output(problem, memory[output_of(problem)].data()).fault, "");
  }
};

std::uint64_t packed_at(const kernels_function& function) {
  for (std::uint32_t i = 0; i < function.tensor_count; ++i)
    if (function.tensors[i].packed != 0) return i;
  return function.tensor_count;
}

/// Calls a library's function for the workload once, and returns the output. `packed` is the prepacked
/// constant operand; it is made where it is empty.
Bytes computed(const LoadedLibrary& library, kernels_context* context, const Workload& workload,
               std::vector<Aligned>& packed, bool alone = true) {
  SCOPED_TRACE(to_text(workload));
  const kernels_function* const function = library.find(context, to_text(workload).c_str());
  EXPECT_NE(function, nullptr) << library.message(context);
  if (function == nullptr) return {};
  const Tensors tensors(workload);
  std::vector<void*> arguments = tensors.pointers();
  if (const std::uint64_t at = packed_at(*function); at < function->tensor_count) {
    if (packed.empty()) {
      packed.resize(library.pack_bytes(context, function) / 64 + 1);
      EXPECT_EQ(library.pack(context, function, arguments[at], packed.data()), KERNELS_OK)
          << library.message(context);
    }
    std::fill_n(tensors.memory[at].data(), tensors.memory[at].size(), kPoisonByte);
    arguments[at] = packed.data();
  }
  const std::uint64_t rows = function->most_rows > 0 ? static_cast<std::uint64_t>(rows_of(workload)) : 0;
  const auto run = [&] {
    EXPECT_EQ(library.call(context, function, arguments.data(), rows), KERNELS_OK)
        << library.message(context);
  };
  if (alone)  // a jump out of another thread's handler would not end there
    EXPECT_TRUE(lehr::testing::touches_nothing_else(run)) << "reads or writes behind a tensor's end";
  else
    run();
  tensors.expect_right();
  return tensors.output();
}

/// Returns the text of the same product with `m` as its rows.
std::string with_m(const std::string& text, const std::string& m) {
  const std::size_t begin = text.find("m=") + 2;
  return std::string(text).replace(begin, text.find(' ', begin) - begin, m);
}

const std::vector<std::string> kFixed = {
    "gemm m=64 n=48 k=33",
    "gemm m=17 n=70 k=64 epilogue=bias+relu",
    "gemm m=1 n=64 k=64",
    "gemm m=7 n=96 k=40 b=f32:column:constant",
    "gemm m=5 n=24 k=31 batch=3 c=f32:column",
    "gemm m=9 n=80 k=70 a=bf16 b=bf16:row:constant c=bf16 epilogue=bias+swiglu",
    "gemm m=9 n=80 k=70 a=u8 b=s8:row:constant c=u8 accum=s32 zero=input epilogue=bias+dequant+relu+quant",
    "conv2d n=2 h=14 w=13 c=8 k=12 r=3 s=3 pad=1 epilogue=bias+relu",
    "conv2d h=9 w=9 c=16 k=16 r=1 s=1 layout=nhwc",
    "conv2d h=16 w=16 c=8 k=8 r=3 s=3 pad=1 groups=8",
    "conv2d h=14 w=14 c=16 k=16 r=3 s=3 pad=1 epilogue=bias+residual+relu",
    "conv2d h=8 w=8 c=16 k=8 r=3 s=3 pad=1 x=u8 f=s8 y=u8 accum=s32 zero=input "
    "epilogue=bias+dequant+relu+quant"};
const std::vector<std::string> kAnyRows = {
    "gemm m=..20 n=50 k=33 b=f32:column:constant epilogue=bias+residual+relu",
    "gemm m=..17 n=21 k=40 b=f32:column",
    "gemm m=..20 n=24 k=31 a=bf16 b=bf16:row:constant c=bf16 epilogue=bias+swiglu",
    "gemm m=..11 n=19 k=35 a=u8 b=s8:column:constant c=u8 accum=s32 zero=input "
    "epilogue=bias+dequant+residual(u8)+relu+quant",
    "gemm m=..1 n=5 k=7"};
const std::string kRange = "gemm m=1..48 n=50 k=33 b=f32:row:constant epilogue=bias+residual+relu";

/// All kinds of kernels. Kernels of one workload and several families are tuned for 1, 2, ... threads, so
/// that a context chooses one by its number.
struct Everything {
  std::vector<RebuiltKernel> kernels;
  std::vector<RebuiltSet> sets;
  std::vector<std::pair<std::string, std::uint32_t>> fixed;  ///< workload and threads

  Everything() {
    const Limits limits = cpu_device(2, false).limits;
    for (const std::string& text : kFixed) {
      std::uint32_t threads = 0;
      for (const Config& config : families_for(catalog(), parse_workload(text), limits).defaults) {
        RebuiltKernel& one = kernels.emplace_back(exported(text, 10, config.family.c_str()));
        one.winner.device->limits.cores = ++threads;
        fixed.emplace_back(text, threads);
      }
      EXPECT_GT(threads, 0u) << text;
    }
    for (const std::string& text : kAnyRows)
      kernels.push_back(exported(text, 10, text == kAnyRows[1] ? "gemm_dot_cpu" : "gemm_cpu"));
    const std::size_t first = kernels.size();
    const std::string any = with_m(kRange, "..48");
    const auto [usual, other] = lehr::testing::two_tiles(any);
    kernels.push_back(exported(with_m(kRange, "1"), 3, "gemv_cpu"));
    kernels.push_back(exported(any, 20, usual));
    kernels.push_back(exported(any, 9, other));
    RebuiltSet set;
    set.workload = parse_workload(kRange);
    set.members = {{first, 1}, {first + 1, 5}, {first + 2, 17}, {first + 1, 48}};
    set.times = {{1, 3}, {5, 8}, {17, 9}, {48, 20}};
    sets = {set};
  }
};

/// Returns the kernels of one program: compiling it takes longer than anything else here.
const Everything& everything() {
  static const Everything kAll;
  return kAll;
}
const LoadedLibrary& library() {
  static const LoadedLibrary kLibrary(everything().kernels, everything().sets);
  return kLibrary;
}

/// A context that ends with its scope.
struct Context {
  kernels_context* const context;
  explicit Context(std::uint32_t threads) : context(library().create(threads)) {}
  ~Context() { library().destroy(context); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  operator kernels_context*() const { return context; }
};

TEST(Library, ComputesWhatItsWorkloadsSay) {
  for (const auto& [text, threads] : everything().fixed) {
    const Context context(threads);
    std::vector<Aligned> packed;
    computed(library(), context, parse_workload(text), packed, threads == 1);
  }
  const Context context(2);
  for (const std::string& text : kAnyRows)
    for (std::int64_t rows = 1; rows <= parse_workload(text).gemm().m; ++rows) {
      std::vector<Aligned> packed;
      computed(library(), context, with_rows(parse_workload(text), rows), packed, false);
    }
}

TEST(Library, ServesEveryNumberOfRowsOfASetWithOnePackedOperand) {
  const Workload range = parse_workload(kRange);
  std::vector<Aligned> packed;
  const Context one(1), three(3);
  const auto kernel_at = [&](std::uint64_t rows) {
    kernels_variant row = {};
    const kernels_function* const function = library().find(one, to_text(range).c_str());
    EXPECT_EQ(function->least_rows, 1u);
    EXPECT_EQ(function->most_rows, 48u);
    EXPECT_EQ(library().describe(one, function, rows, &row), KERNELS_OK);
    return row.time_us;
  };
  EXPECT_DOUBLE_EQ(kernel_at(11), 8.5);
  EXPECT_DOUBLE_EQ(kernel_at(0), 20);
  const kernels_function* const function = library().find(one, to_text(range).c_str());
  for (std::int64_t rows = 48; rows >= 2; --rows)  // for one row there is a function of its own, too
    for (kernels_context* const context : {one.context, three.context}) {
      EXPECT_EQ(library().find(context, to_text(with_rows(range, rows)).c_str()), function);
      computed(library(), context, with_rows(range, rows), packed, context == one.context);
      if (HasFailure()) return;
    }
}

TEST(Library, ChoosesTheKernelForTheThreadsAtHand) {
  const std::string text = kFixed[10];
  const auto threads_for = [&](std::uint32_t threads) {
    const Context context(threads);
    kernels_variant row = {};
    EXPECT_EQ(library().describe(context, library().find(context, text.c_str()), 0, &row), KERNELS_OK);
    EXPECT_DOUBLE_EQ(row.time_us, 10);
    return row.threads;
  };
  std::uint32_t most = 0;
  for (const auto& [workload, threads] : everything().fixed)
    if (workload == text) most = threads;
  ASSERT_GE(most, 2u) << "families of " << text;
  for (std::uint32_t threads = 1; threads <= most; ++threads) EXPECT_EQ(threads_for(threads), threads);
  EXPECT_EQ(threads_for(most + 5), most) << "the nearest one";
}

TEST(Library, TakesPackedMemoryInEveryContextAndNothingElse) {
  const std::string text = "gemm m=7 n=96 k=40 b=f32:column:constant";
  const Context one(1), two(2), other(1);
  const kernels_function* const function = library().find(one, text.c_str());
  ASSERT_NE(function, nullptr);
  std::vector<Aligned> packed;
  const Bytes first = computed(library(), one, parse_workload(text), packed);
  EXPECT_EQ(computed(library(), two, parse_workload(text), packed, false), first) << "by the same kernel";
  EXPECT_EQ(computed(library(), other, parse_workload(text), packed), first);
  const Tensors tensors(parse_workload(text));
  std::vector<void*> arguments = tensors.pointers();
  std::vector<Aligned> nothing(packed.size());
  arguments[1] = nothing.data();
  EXPECT_EQ(library().call(one, function, arguments.data(), 0), KERNELS_BAD_ARGUMENT);
  EXPECT_STREQ(library().message(one),
               "kernels_gemm_m7_n96_k40_b_f32_column_constant: b is not what "
               "kernels_gemm_m7_n96_k40_b_f32_column_constant_pack of this library has made");
  arguments[1] = packed.data();
  const kernels_function* const another = library().find(one, kFixed[8].c_str());
  EXPECT_EQ(library().call(one, another, arguments.data(), 0), KERNELS_BAD_ARGUMENT) << "of another function";
  EXPECT_EQ(library().pack(one, function, arguments[0], nullptr), KERNELS_BAD_ARGUMENT);
  EXPECT_EQ(library().pack(one, library().find(one, kFixed[0].c_str()), arguments[0], packed.data()),
            KERNELS_BAD_ARGUMENT);
  EXPECT_EQ(library().pack_bytes(one, library().find(one, kFixed[0].c_str())), 0u);
}

TEST(Library, SaysWhatIsWrongWithACall) {
  const Context context(1);
  const auto said = [&](const std::string& workload, std::vector<void*> arguments, std::uint64_t rows) {
    const kernels_function* const function = library().find(context, workload.c_str());
    EXPECT_EQ(library().call(context, function, arguments.data(), rows), KERNELS_BAD_ARGUMENT);
    return std::string(library().message(context));
  };
  const Tensors tensors(parse_workload(kFixed[0]));
  std::vector<void*> good = tensors.pointers(), bad = good;
  bad[1] = nullptr;
  EXPECT_EQ(said(kFixed[0], bad, 0), "kernels_gemm_m64_n48_k33: b is a null pointer");
  bad[1] = static_cast<unsigned char*>(good[1]) + 1;
  EXPECT_EQ(said(kFixed[0], bad, 0), "kernels_gemm_m64_n48_k33: b is not aligned to 4 bytes");
  EXPECT_EQ(said(kFixed[0], good, 3),
            "kernels_gemm_m64_n48_k33: its number of rows is fixed, and the call says 3");
  EXPECT_EQ(
      said("gemm m=..17 n=21 k=40 b=f32:column", good, 18),
      "kernels_gemm_mto17_n21_k40_b_f32_column takes 1 to 17 rows, not 18: `echo 'gemm m=1..18 n=21 k=40 "
      "batch=1 a=f32:row b=f32:column c=f32:row accum=f32 epilogue=none' | lehr tune --problems -` and `lehr "
      "export` make one that does");
  EXPECT_THAT(said("gemm m=..17 n=21 k=40 b=f32:column", good, ~std::uint64_t{0}),
              HasSubstr("takes 1 to 17 rows, not 18446744073709551615"));
  kernels_variant row = {};
  EXPECT_EQ(library().describe(context, library().find(context, kFixed[0].c_str()), 5, &row),
            KERNELS_BAD_ARGUMENT);
  EXPECT_EQ(library().call(context, nullptr, good.data(), 0), KERNELS_BAD_ARGUMENT);
  EXPECT_EQ(library().call(context, library().at(0), nullptr, 0), KERNELS_BAD_ARGUMENT);
  EXPECT_EQ(library().call(nullptr, library().at(0), good.data(), 0), KERNELS_BAD_ARGUMENT);
}

TEST(Library, FindsFunctionsByTheWordsOfAWorkload) {
  const Context context(1);
  const auto found = [&](const char* text) -> std::string {
    const kernels_function* const function = library().find(context, text);
    return function != nullptr ? function->name : library().message(context);
  };
  EXPECT_EQ(found("gemm k=33 n=48 m=64 batch=1"), "kernels_gemm_m64_n48_k33");
  EXPECT_EQ(found("conv2d n=2 h=14 w=13 c=8 k=12 r=3 s=3 pad=1x1 epilogue=bias+relu"),
            "kernels_conv2d_n2_h14_w13_c8_k12_r3_s3_pad1_bias_relu");
  EXPECT_EQ(found("gemm m=12 n=21 k=40 b=f32:column"), "kernels_gemm_mto17_n21_k40_b_f32_column");
  EXPECT_EQ(
      found("gemm m=64 n=48"),
      "the library has no kernel for 'gemm m=64 n=48': `echo 'gemm m=64 n=48' | lehr tune --problems -` and "
      "`lehr export` make one");
  EXPECT_EQ(found("gemm m=18 n=21 k=40 b=f32:column"),
            "the library has no kernel for 'gemm m=18 n=21 k=40 b=f32:column': `echo 'gemm m=1..18 n=21 k=40 "
            "b=f32:column' | lehr tune --problems -` and `lehr export` make one");
  EXPECT_EQ(found("gemm m=64 n=48 k=33 alpha=1 math=strict"), "kernels_gemm_m64_n48_k33");
  EXPECT_EQ(found("gemm m=64 m=64 n=48 k=33"), "'gemm m=64 m=64 n=48 k=33' says m twice");
  for (const std::string& text : {std::string(), std::string("gemm m n=4"), std::string("gemm =4"),
                                  std::string("gemm m="), std::string("m=4"), std::string(5000, 'g')})
    EXPECT_THAT(found(text.c_str()), HasSubstr("is no workload: an operator, then words as m=64"));
  EXPECT_THAT(found(library().message(context)), HasSubstr("is no workload"));
  EXPECT_EQ(library().find(context, nullptr), nullptr);
  std::uint32_t count = 0;
  for (; library().at(count) != nullptr; ++count)
    EXPECT_EQ(library().find(context, library().at(count)->workload), library().at(count));
  EXPECT_EQ(count, library().count());
}

TEST(Library, MakesContextsOfWhatItIsTold) {
  std::string said;
  EXPECT_EQ(library().create({5000, 0, 0, 0, nullptr, nullptr, nullptr}, &said), nullptr);
  EXPECT_EQ(said, "a context has 1 to 4096 threads, not 5000");
  EXPECT_EQ(library().create({1, 0, 0, 0, "avx2 avx3", nullptr, nullptr}, &said), nullptr);
  EXPECT_EQ(said, "'avx3' is no feature that kernels of this architecture are compiled for");
  EXPECT_EQ(library().create({1, 1, 0, 0, nullptr, nullptr, nullptr}, &said), nullptr) << "for a GPU";
  EXPECT_NE(said, "");
  char message[20];
  const auto create_for = library().function<decltype(kernels_create_for)>("create_for");
  EXPECT_EQ(create_for(1, nullptr, message, sizeof message), nullptr);
  EXPECT_STREQ(message, "the header is not t") << "of another library, cut to what fits";
  EXPECT_EQ(create_for(1, nullptr, nullptr, 0), nullptr);
  library().destroy(nullptr);
}

// The host is an engine with a pool, which may be another one for each call.
TEST(Library, RunsOnThePoolOfItsHost) {
  int rounds = 0;
  const auto parallel_for = [](void* pool, std::uint32_t workers, void (*work)(void*, std::uint32_t),
                               void* context) {
    ++*static_cast<int*>(pool);
    for (std::uint32_t i = workers; i-- > 0;) work(context, i);
  };
  const kernels_options options = {3, 0, 0, 0, nullptr, parallel_for, &rounds};
  kernels_context* const context = library().create(options);
  std::vector<Aligned> packed;
  const Workload workload = parse_workload(kFixed[0]);
  computed(library(), context, workload, packed);
  EXPECT_EQ(rounds, 1);
  int others = 0;
  library().use(context, parallel_for, &others);
  computed(library(), context, workload, packed);
  EXPECT_EQ(others, 1);
  library().use(context, nullptr, nullptr);
  computed(library(), context, workload, packed);
  EXPECT_EQ(rounds + others, 2) << "on the calling thread";
  library().destroy(context);
}

TEST(Library, ServesManyThreadsWithContextsOfTheirOwn) {
  const Workload workload = parse_workload(kFixed[3]);
  std::vector<Aligned> packed;
  const Bytes expected = computed(library(), Context(2), workload, packed, false);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      const Context own(2);
      for (int j = 0; j < 20; ++j) EXPECT_EQ(computed(library(), own, workload, packed, false), expected);
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(Library, GoesOnInAChildProcess) {
  const Context context(3);
  std::vector<Aligned> packed;
  const Workload workload = parse_workload(kFixed[1]);
  const Bytes expected = computed(library(), context, workload, packed, false);
  const pid_t child = fork();
  if (child == 0) {
    const bool right = computed(library(), context, workload, packed, false) == expected;
    library().destroy(context.context);
    _exit(right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Library, KnowsWhatItsKernelsHaveToCompute) {
  const RebuiltKernel fixed = exported(kFixed[0], 1), told = exported(kAnyRows[1], 1, "gemm_dot_cpu");
  struct Fault {
    RebuiltKernel kernel;
    const char *first, *said;  ///< what the first work item does before anything else
  };
  for (auto [kernel, first, says] :
       {Fault{fixed, "return;", "does not write c[0]"}, Fault{told, "return;", "c[0]"},
        Fault{fixed, "for (int i = 0; i < 64 * 33; ++i) ((float*)params[0])[i] += 1;", "computes c["},
        Fault{told, "((float*)params[2])[17 * 21 - 1] = 1;", "writes c behind the last of "}}) {
    std::string& text = kernel.source.text;
    const std::string begin = "(void* const* params, void* scratch, long task) {";
    const std::size_t at = text.rfind(begin);
    ASSERT_NE(at, std::string::npos) << text;
    text.insert(at + begin.size(), fmt::format(" if (task == 0) {{ {} }} ", first));
    const LoadedLibrary broken(std::array{kernel});
    std::string said;
    EXPECT_EQ(broken.create({1, 0, 0, 1, nullptr, nullptr, nullptr}, &said), nullptr);
    EXPECT_THAT(said, HasSubstr(says));
    kernels_context* const context = broken.create({1, 0, 0, 0, nullptr, nullptr, nullptr});
    EXPECT_EQ(broken.self_test(context, broken.at(0)), KERNELS_WRONG_RESULT);
    broken.destroy(context);
  }
}

TEST(Library, OfTheSameKernelsHasTheSameBytes) {
  const std::vector<RebuiltKernel> kernels = {exported(kFixed[0], 1), exported(kFixed[7], 2)};
  const auto first = lehr::testing::files_of(kernels), second = lehr::testing::files_of(kernels);
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].path, second[i].path);
    EXPECT_TRUE(first[i].bytes == second[i].bytes) << first[i].path;
  }
}

TEST(Library, TakesObjectFilesThatTuningHasKept) {
  const TempDir directory;
  const std::string log = directory.path() + "/runs", script = directory.path() + "/compiler";
  std::ofstream(script) << "#!/bin/sh\necho \"$@\" >> " << log << "\nexec c++ \"$@\"\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  HostCompiler tuned;
  tuned.keep_objects(1 << 20);
  std::vector<RebuiltKernel> kernels = {exported(kFixed[0], 1), exported(kFixed[7], 2)};
  for (RebuiltKernel& kernel : kernels) {
    kernel.winner.device->compiler = tuned.identity();
    tuned.compile(std::vector<Source>{kernel.source});
  }
  // Makes the library with `kept`, and counts how often something was compiled for it.
  const auto made = [&](const Compiler* kept) {
    HostCompilerOptions host;
    host.compiler = script;
    host.time_limit_s = 600;
    FolderCompilers compilers({host, {}, kept});
    std::ofstream(log, std::ios::trunc);
    const Library library =
        library_of(prepared(kernels, compilers), lehr::testing::sets_of(kernels), {"kernels", "test"});
    const auto file = shared_library_file(library, compilers);
    std::ifstream lines(log);
    int runs = 0;
    for (std::string line; std::getline(lines, line);)
      if (line.find(" -c ") != std::string::npos && line.find("-###") == std::string::npos) ++runs;
    return std::pair(file.at(0).bytes, runs);
  };
  const auto [fresh, all] = made(nullptr);
  const auto [taken, few] = made(&tuned);
  EXPECT_TRUE(fresh == taken);
  // Each compiler is tried once.
  EXPECT_EQ(all, few + 3);
  for (RebuiltKernel& kernel : kernels) kernel.winner.device->compiler = "another compiler -march=native";
  EXPECT_EQ(made(&tuned).second, all);
}

TEST(Library, HoldsAKernelOfTwoWinnersOnce) {
  RebuiltKernel one = exported(kFixed[0], 9), two = one;
  two.winner.device->limits.cores = 1;
  const auto files = lehr::testing::files_of(std::array{one, two});
  EXPECT_EQ(std::ranges::count_if(files,
                                  [](const FolderFile& file) {
                                    return file.path.starts_with("sources/gemm") &&
                                           file.path.ends_with(".cpp");
                                  }),
            1);
}

#if defined(__x86_64__)

std::string features_at(const Isa& isa) {
  HostCompilerOptions options;
  options.isa = isa;
  return fmt::format("{}", fmt::join(features_of(HostCompiler(options).macros()), " "));
}

// A machine of today without AVX2 is one of v2 alone: then there is nothing to choose from.
TEST(Library, ServesMachinesOfEachLevel) {
  const Isa v2 = isa_named("x86-64-v2"), v3 = isa_named("x86-64-v3");
  if (cpu_device(1, false).limits.vector_bytes < 32) GTEST_SKIP() << "this processor has no AVX2";
  const std::array kernels = {exported(kFixed[0], 20, nullptr, v2), exported(kFixed[0], 10, nullptr, v3),
                              exported(kFixed[2], 3, nullptr, v3)};
  const LoadedLibrary levels(kernels);
  const auto time_with = [&](kernels_context* context) {
    std::vector<Aligned> packed;
    computed(levels, context, parse_workload(kFixed[0]), packed, false);
    kernels_variant row = {};
    EXPECT_EQ(levels.describe(context, levels.find(context, kFixed[0].c_str()), 0, &row), KERNELS_OK);
    levels.destroy(context);
    return row.time_us;
  };
  EXPECT_DOUBLE_EQ(time_with(levels.create(2)), 10);
  {  // A kernel for fewer threads of a better processor is the faster one.
    std::array mixed = {exported(kFixed[0], 20, nullptr, v2), exported(kFixed[0], 10, nullptr, v3)};
    mixed[1].winner.device->limits.cores = 1;
    const LoadedLibrary library(mixed);
    kernels_context* const context = library.create(2);
    kernels_variant row = {};
    EXPECT_EQ(library.describe(context, library.at(0), 0, &row), KERNELS_OK);
    EXPECT_EQ(row.threads, 1u);
    library.destroy(context);
  }
  const std::string old = features_at(v2);
  EXPECT_DOUBLE_EQ(time_with(levels.create({2, 0, 0, 1, old.c_str(), nullptr, nullptr})), 20);
  kernels_context* const older = levels.create({2, 0, 0, 1, old.c_str(), nullptr, nullptr});
  EXPECT_EQ(levels.find(older, kFixed[2].c_str()), nullptr);
  const std::string said = levels.message(older);
  EXPECT_THAT(said, HasSubstr(", f16c, fma, bmi, avx2, bmi2 and lzcnt, which the processor lacks or the "));
  EXPECT_THAT(said, HasSubstr("the options leave out: tune with --isa x86-64-v2 or lower, and export again"));
  levels.destroy(older);
  // CMake compiles each source for its own level.
  const auto files = lehr::testing::files_of(kernels);
  const auto cmake = std::ranges::find(files, "sources/CMakeLists.txt", &FolderFile::path);
  ASSERT_NE(cmake, files.end());
  const auto with_avx2 = cmake->bytes.find(";-mavx2");
  EXPECT_NE(with_avx2, std::string::npos);
  EXPECT_EQ(cmake->bytes.find(";-mavx2", with_avx2 + 1), std::string::npos);
}

// Whatever the text uses, a compiler may use the given features in any kernel.
TEST(Library, NeedsTheFeaturesThatAKernelWasCompiledWith) {
  const Isa level = isa_named("x86-64-v4"), more = isa_named("x86-64-v4+avx512vnni");
  const LoadedLibrary levels(
      std::array{exported(kFixed[0], 20, nullptr, level), exported(kFixed[0], 10, nullptr, more)});
  const std::string features = features_at(level);
  std::string said;
  kernels_context* const context = levels.create({2, 0, 0, 1, features.c_str(), nullptr, nullptr}, &said);
  if (context == nullptr) {  // this processor runs neither
    EXPECT_THAT(said, HasSubstr("needs avx512"));
    return;
  }
  kernels_variant row = {};
  EXPECT_EQ(levels.describe(context, levels.find(context, kFixed[0].c_str()), 0, &row), KERNELS_OK);
  EXPECT_DOUBLE_EQ(row.time_us, 20);
  levels.destroy(context);
}

#endif

}  // namespace
}  // namespace lehr
