// Every bad input: its exit code, and one line on stderr that names the flag.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "support.h"

namespace lehr::testing {
namespace {

using ::testing::HasSubstr;

#if defined(__aarch64__)
#define LEHR_LOWEST_LEVEL "armv8-a"
#define LEHR_OTHER_LEVEL "x86-64"
#else
#define LEHR_LOWEST_LEVEL "x86-64"
#define LEHR_OTHER_LEVEL "armv8-a"
#endif

struct Bad {
  std::string line;
  int code;
  std::string says;
};

class BadInput : public ::testing::TestWithParam<Bad> {};

TEST_P(BadInput, IsOneClearLineWithItsExitCode) {
  const Scratch scratch;
  const Ran ran = run_lehr(words(GetParam().line), scratch.path());
  EXPECT_EQ(ran.code, GetParam().code) << GetParam().line << "\n" << ran.err;
  EXPECT_THAT(ran.err, HasSubstr(GetParam().says)) << GetParam().line;
  EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
  EXPECT_EQ(ran.out, "") << GetParam().line;
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path())) << "something was written: " << GetParam().line;
}

INSTANTIATE_TEST_SUITE_P(
    All, BadInput,
    ::testing::Values(
        Bad{"tune gemm --m 0 --n 8 --k 8", 1,
            "--m 0 is not valid: it must be a whole number from 1 to 2147483647"},
        Bad{"tune gemm --m -5 --n 8 --k 8", 1, "--m -5 is not valid"},
        Bad{"tune gemm --m 8 --n 1e3 --k 8", 1, "--n 1e3 is not valid"},
        Bad{"tune gemm --m 8 --n 8 --k 99999999999999999999999", 1,
            "--k 99999999999999999999999 is not valid"},
        Bad{"tune gemm --m 2147483648 --n 8 --k 8", 1, "--m 2147483648 is not valid"},
        Bad{"tune gemm --m 1000000 --n 8 --k 1000000", 1, "A would have 1e+12 elements"},
        Bad{"tune gemm --m 8 --n 8", 1, "--k is missing"},
        Bad{"tune gemm --m 8, --n 8 --k 8", 1, "--m '' is not valid"},
        Bad{"tune conv2d --h 8 --w 8 --c 8 --k 8 --r 3 --dtype f16 --math tf32", 1,
            "math=tf32 is for f32 operands; with f16 leave it at strict"},
        Bad{"tune gemm --m 8:4 --n 8 --k 8", 1, "the range ends before it starts"},
        Bad{"tune gemm --m 8:16:0 --n 8 --k 8", 1, "--m 0 is not valid"},
        Bad{"tune gemm --m 1:100000 --n 8 --k 8", 1, "more than 10000 values"},
        Bad{"tune gemm --m 1..x --n 8 --k 8", 1, "'--m=x' is not a whole number"},
        Bad{"tune gemm --m 0..8 --n 8 --k 8", 1, "a range begins with one row or more"},
        Bad{"tune gemm --m 9..8 --n 8 --k 8", 1, "m=9..8 is no range"},
        Bad{"tune gemm --m 8 --n 1..8 --k 8", 1, "'--n=1..8' is not a whole number"},
        Bad{"tune gemm --m 1..8 --n 8 --k 8 --batch 2", 1, "any number of rows needs batch=1"},
        Bad{"tune gemm --m 1..8 --n 8 --k 8 --layout tn", 1, "A and C stored by rows"},
        Bad{"tune gemm --m 8 --n 8 --k 8 --kernels 4", 1, "--kernels 4 is for a range of rows, as m=1..2048"},
        Bad{"tune gemm --m 1..8 --n 8 --k 8 --kernels 0", 1, "--kernels 0 is not valid"},
        Bad{"tune gemm --m 1..8 --n 8 --k 8 --baseline openblas", 1, "--baseline openblas is for one size"},
        Bad{"tune gemm --m 1..8 --n 8 --k 8 --deterministic-check", 1,
            "--deterministic-check is of one kernel"},
        Bad{"show gemm --m 1..8 --n 8 --k 8 --sample 1", 1, "has no config of its own"},
        Bad{"tune gemm --m ..64 --rows 0 --n 32 --k 32 --trials 0 --device cpu", 1,
            "rows=0 is out of range: it is 1 or more, and left out for all rows"},
        Bad{"tune gemm --m 64 --n 32 --k 32 --kernels 3 --trials 0 --device cpu", 1,
            "--kernels 3 is for a range of rows, as m=1..2048"},
        Bad{"tune --model x.onnx --kernels 3", 1, "--kernels 3 is for a range of rows, as m=1..2048"},
        Bad{"tune gemm --m 64 --n 32 --k 32 --baseline openblas --trials 0 --device cpu", 1,
            "--trials 0 runs nothing: leave out --baseline"},
        Bad{"tune gemm --m 64 --n 32 --k 32 --patience 9 --trials 0 --device cpu", 1,
            "--trials 0 runs nothing: leave out --patience"},
        Bad{"check gemm --m 1..8 --n 8 --k 8", 1, "a range of rows is covered by a set of kernels"},
        Bad{"tune gemm --m 1:1000 --n 1:1000 --k 8", 1, "1000000 problems"},
        Bad{"tune gemm --m 8 --n 8 --k 8 --batch 0", 1, "--batch 0 is not valid"},
        Bad{"tune gemm --m 8 --n 8 --k 8 --trials -1", 1, "--trials -1 is not valid"},
        Bad{"tune gemm --m 8 --n 8 --k 8 --trials 0 --time 5s", 1,
            "--trials 0 runs nothing: leave out --time"},
        Bad{"tune gemm --m 8 --n 8 --k 8 --trials 0 --deterministic-check", 1,
            "--trials 0 runs nothing: leave out --deterministic-check"},
        Bad{"tune gemm --m 1..8 --n 8 --k 8 --trials 0 --device cpu", 1, "is a range of rows"},
        Bad{"tune --model x.onnx --trials 0", 1, "--trials 0 is for workloads"},
        Bad{"tune gemm --m 8 --n 8 --k 8 --trials many", 1, "--trials many is not valid"},
        Bad{"tune gemm --m 8 --n 8 --k 8 --time 5parsecs", 1, "--time 5parsecs is not valid"},
        Bad{"tune gemm --m 8 --n 8 --k 8 --time -1s", 1, "--time -1s is not valid"},
        Bad{"tune gemm --m 8 --n 8 --k 8 --time 0", 1, "--time 0 is not valid"},
        Bad{"tune gemm --m 8 --n 8 --k 8 --time nan", 1, "--time nan is not valid"},
        Bad{"tune gemm --m 8 --n 8 --k 8 --seed -1", 1, "--seed -1 is not valid"},
        Bad{"tune gemm --m 8 --n 8 --k 8 --threads 0", 1, "--threads 0 is not valid"},
        Bad{"tune gemm --m 8 --n 8 --k 8 --threads 100000", 1, "--threads 100000 is not valid"},
        Bad{"tune gemm --m 8 --n 8 --k 8 --strategy aneal", 1,
            "--strategy aneal is not known (did you mean anneal?)"},
        Bad{"tune gemm --m 8 --n 8 --k 8 --strategy grid", 1,
            "--strategy grid is not known: it must be one of"},
        Bad{"tune gemm --m 8 --n 8 --k 8 --a f3", 1, "did you mean f32?"},
        Bad{"tune gemm --m 8 --n 8 --k 8 --a f32:rwo", 1, "--a f32:rwo"},
        Bad{"tune gemm --m 8 --n 8 --k 8 --layout xy", 1, "--layout xy is not known"},
        Bad{"tune gemm --m 8 --n 8 --k 8 --layout tn --a f32:row", 1, "--a f32:row contradicts --layout tn"},
        Bad{"tune gemm --m 8 --n 8 --k 8 --epilogue bias+rleu", 1, "did you mean relu?"},
        Bad{"tune conv2d --h 8 --w 8 --c 4 --k 4 --r 3 --epilogue clamp(6,-1)", 1, "the lower one first"},
        Bad{"tune gemm --m 8 --n 8 --k 8 --device gpu", 1,
            "--device gpu is not known: it takes auto, cpu, cuda and cuda:0; lehr doctor says which of them"},
        Bad{"tune gemm --m 8 --n 8 --k 8 --device cuda:x", 1, "--device cuda: x is not valid"},
        Bad{"tune gemm --m 8 --n 8 --k 8 --isa x87", 1, "--isa x87 is not known"},
        Bad{"bench gemm --m 8 --n 8 --k 8 --isa avx2", 1, "it must be one of native, "},
        Bad{"check gemm --m 8 --n 8 --k 8 --isa " LEHR_OTHER_LEVEL, 1, "and this machine is "},
        Bad{"tune gemm --m 8 --n 8 --k 8 --device cuda --isa " LEHR_LOWEST_LEVEL, 1,
            "leave out --device cuda"},
        Bad{"compile gemm --m 8 --n 8 --k 8 --arch sm_80 --isa " LEHR_LOWEST_LEVEL, 1, "exclude each other"},
        Bad{"export --out winners --isa sse", 1, "--isa sse is not known"},
        Bad{"tune gemm --m 8 --n 8 --k 8 --device cpu --baseline openbals", 1, "did you mean openblas?"},
        Bad{"tune gemm --m 8 --n 8 --k 8 --baseline openblas --no-baseline", 1, "exclude each other"},
        Bad{"tune gemm --m 8 --n 8 --k 8 --dtype bf16", 1,
            "unknown flag --dtype: a product names the type of each operand, as --a bf16 --b bf16"},
        Bad{"best nosuch.db", 1, "'nosuch.db' is not expected here: a log is named with --db nosuch.db"},
        Bad{"show x.onnx", 1, "'x.onnx'"},
        Bad{"tune x.onnx --time 5s", 1, "a network is named with --model x.onnx"},
        Bad{"tune gemm --m 8 --n 8 --k 8 --trails 5", 1, "unknown flag --trails (did you mean --trials?)"},
        Bad{"tune gemm --m 8 --n 8 --k 8 surplus", 1, "'surplus' is not expected"},
        Bad{"tune gemm m=8 n=8 k=8", 1,
            "'m=8' is not expected here: write --m 8, or the workload's text as one argument, in quotes"},
        Bad{"show gemm m=8 n=8 k=8", 1, "write --m 8, or"}, Bad{"tune gem --m 8", 1, "did you mean gemm?"},
        Bad{"tune", 1, "or a command (gemm, conv2d, rowwise), or --problems FILE"},
        Bad{"check --problems nothing.txt", 1, "--problems nothing.txt cannot be read: No such file"},
        Bad{"check --problems /dev/zero", 1,
            "--problems /dev/zero is larger than 16 MiB unpacked, which no list"},
        Bad{"check --problems /dev", 1, "--problems /dev is a folder; a list of problems is one file"},
        Bad{"check --problems /dev/null", 1, "/dev/null holds no problem"},
        Bad{"tune --suite autotwm", 1, "did you mean autotvm"},
        Bad{"tune --suite autotvm --problems x", 1, "exclude each other"},
        Bad{"tune --problems nothing.txt gemm --m 8 --n 8 --k 8", 1, "exclude each other"},
        Bad{"tuen", 1, "unknown command 'tuen' (did you mean tune?)"},
        Bad{"check gemm --m 8 --n 8 --k 8 --samples 0", 1, "--samples 0 is not valid"},
        Bad{"check gemm --m 8 --n 8 --k 8 --device cuda:63", 2, "--device cuda:63 cannot be used"},
        Bad{"best --db nothing.db", 1, "nothing.db"}, Bad{"db stats --db nothing.db", 1, "nothing.db"},
        Bad{"export --db nothing.db --out x", 1, "nothing.db"},
        Bad{"export --out x --name 2x", 1, "--name 2x: a library's name is"},
        Bad{"export", 1, "--out is missing"}, Bad{"best --target gpu", 1, "--target gpu is not known"},
        Bad{"best --workload conv", 1, "--workload"}, Bad{"show --as ast", 1, "lehr show needs a workload"},
        Bad{"show gemm --m 8 --n 8 --k 8 --as pixels", 1, "--as pixels is not known"},
        Bad{"show gemm --m 8,9 --n 8 --k 8", 1, "takes one"},
        Bad{"show gemm --m 8 --n 8 --k 8 --device cpu --config gemm_cpu(", 1, "--config"},
        Bad{"show gemm --m 8 --n 8 --k 8 --arch sm_90b", 1, "--arch sm_90b is not known (did you mean sm_90"},
        Bad{"show gemm --m 8 --n 8 --k 8 --sample x", 1, "--sample x is not valid"},
        Bad{"show gemm --m 8 --n 8 --k 8 --as model --db nothing.db", 1, "nothing.db"},
        Bad{"show gemm --m 8 --n 8 --k 8 --as model --sample 1", 1, "leave out --config and --sample"},
        Bad{"show gemm --m 8 --n 8 --k 8 --as picks --sample 1", 1, "leave out --config and --sample"},
        Bad{"show gemm --m 8 --n 8 --k 8 --as picks --seed x", 1, "--seed x is not valid"},
        Bad{"show gemm --m 8 --n 8 --k 8 --as model --device gpu", 1, "--device gpu is not known"},
        Bad{"compile --arch sm_90a", 1, "lehr compile needs a workload: write lehr compile \"gemm m=512"},
        Bad{"compile gemm --m 8 --n 8 --k 8 --arch sm_90b", 1,
            "--arch sm_90b is not known (did you mean sm_90"},
        Bad{"compile gemm --m 8 --n 8 --k 8 --arch sm_80 --jobs 0", 1, "--jobs 0 is not valid"},
        Bad{"compile gemm --m 8 --n 8 --k 8 --arch sm_80 --samples 0", 1, "--samples 0 is not valid"},
        Bad{"compile gemm --m 8 --n 8 --k 8 --arch sm_80 --family gemm_smit", 1, "did you mean gemm_simt?"},
        Bad{"tune gemm --m 8 --n 8 --k 8 --device cpu --transfer other.db", 1, "other.db"},
        Bad{"bench gemm --m 8 --n 8 --k 8 --time soon", 1, "--time soon is not"},
        Bad{"bench gemm --m 8 --n 8 --k 8 --config tall", 1, "tall"},
        Bad{"bench gemm --m 8,16 --n 8 --k 8", 1, "one"},
        Bad{"replay", 1, "a table is missing: write lehr replay FILE"},
        Bad{"replay nothing.json", 1, "nothing.json cannot be read: No such file"},
        Bad{"replay x.json --seeds 0", 1, "--seeds 0 is not valid"},
        Bad{"replay x.json --trials -1", 1, "--trials -1 is not valid"},
        Bad{"replay x.json --strategy autotmv", 1, "did you mean autotvm?"},
        Bad{"tune gemm --m 8 --n 8 --k 8 --jobs many", 1, "--jobs many is not valid"}));

TEST(Errors, AForeignFileIsRefusedAndLeftAlone) {
  const Scratch scratch;
  const std::string content =
      "this is no database, and long enough to be looked at: " + std::string(200, 'x');
  std::ofstream(scratch.path() / "notes.db") << content;
  const Ran ran =
      run_lehr(words("tune gemm --m 8 --n 8 --k 8 --device cpu --trials 1 --db notes.db"), scratch.path());
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("notes.db"));
  std::ifstream file(scratch.path() / "notes.db");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), content);
}

TEST(Errors, ADirectoryThatCannotBeWrittenIsAnEnvironmentError) {
  const Scratch scratch;
  const Ran ran = run_lehr(words("tune gemm --m 8 --n 8 --k 8 --device cpu --trials 1 --db /proc/here.db"),
                           scratch.path());
  EXPECT_EQ(ran.code, 2) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("/proc/here.db"));
}

TEST(Errors, HelpAndVersionGoToStdoutWithExitCodeZero) {
  const Scratch scratch;
  for (const std::string line :
       {"--help", "--version", "tune --help", "tune gemm --help", "bench --help", "show --help",
        "compile --help", "best --help", "export --help", "doctor --help", "db --help", "db stats --help"}) {
    const Ran ran = run_lehr(words(line), scratch.path());
    EXPECT_EQ(ran.code, 0) << line;
    EXPECT_NE(ran.out, "") << line;
    EXPECT_EQ(ran.err, "") << line;
  }
  EXPECT_THAT(run_lehr(words("tune gemm --help"), scratch.path()).out, HasSubstr("Examples:"));
}

}  // namespace
}  // namespace lehr::testing
