// Tests of row expressions from the command line to a library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text_file.h"
#include "support.h"

namespace lehr::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<std::string> kNorm = {"--in", "x:f32,g:f32:column", "--out", "y:f32,v:f32:row",
                                        "y = (x - mean(x)) * rsqrt(var(x) + 1e-5) * g; v = var(x)"};

std::vector<std::string> command(const std::string& line, const std::vector<std::string>& more) {
  std::vector<std::string> all = words(line);
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST(RowExpressions, GoFromFlagsToOneFunctionOfALibrary) {
  const Scratch scratch;
  const auto lehr = [&](const std::string& line, const std::vector<std::string>& more = {}) {
    return run_lehr(command(line, more), scratch.path());
  };
  const json summaries = parsed(
      lehr("tune rowwise --m 4,64 --n 37 --device cpu --threads 1 --trials 3 --quiet --json --no-baseline",
           kNorm));
  ASSERT_EQ(summaries.size(), 2u);
  EXPECT_EQ(summaries[1]["workload"],
            "rowwise m=64 n=37 in=x:f32,g:f32:column out=y:f32,v:f32:row "
            "expr=y=(x-mean(x))*rsqrt(var(x)+1e-05)*g;v=var(x)");
  EXPECT_EQ(summaries[1]["trials"]["timed"], 3);

  const json exported = parsed(lehr("export --out norms --json"));
  EXPECT_EQ(exported["kernels"], 2);
  EXPECT_EQ(exported["functions"], 1) << "of any number of rows";
  const json functions = parsed(lehr("bench --bundle norms --json"))["functions"];
  const std::string name = functions[0]["function"];
  EXPECT_THAT(name, HasSubstr("rowwise_n37_"));
  const std::string plain = name.substr(name.find("rowwise"));
  parsed(lehr("export --out named --json --rename " + plain + "=norm"));
  const std::string header = read_text_file((scratch.path() / "named/kernels.h").string());
  EXPECT_THAT(
      header,
      HasSubstr("kernels_norm(kernels_context* context, uint64_t rows, const float* x, const float* g, "
                "float* y, float* v)"));
  EXPECT_THAT(header, Not(HasSubstr(plain)));
  EXPECT_THAT(lehr("export --out other --rename norm=x").err, HasSubstr("there is no function norm"));

  // The function gets more rows than it was tuned at, and its result is checked.
  const json timed = parsed(lehr(
      "bench rowwise --m 333 --n 37 --threads 1 --time 100ms --no-baseline --bundle norms --json", kNorm));
  EXPECT_TRUE(timed["entries"].back()["missing"].is_null()) << timed["entries"];
  const json checked =
      parsed(lehr("check rowwise --m 9 --n 37,5 --threads 1 --device cpu --samples 2 --json", kNorm));
  EXPECT_EQ(checked["failed_configs"], 0);
  EXPECT_EQ(checked["right_configs"], 4);
}

// Few long rows are computed in steps, whose sums a context has room for.
TEST(RowExpressions, OfFewLongRowsGoToALibrary) {
  const Scratch scratch;
  const std::vector<std::string> softmax = {"--in", "x:f32", "--out", "y:f32",
                                            "y = exp(x - max(x)) / sum(exp(x - max(x)))"};
  const auto lehr = [&](const std::string& line, const std::vector<std::string>& more = {}) {
    return run_lehr(command(line, more), scratch.path());
  };
  const json tuned = parsed(
      lehr("tune rowwise --m 1 --n 20000 --device cpu --threads 2 --trials 1 --json --no-baseline", softmax));
  EXPECT_THAT(tuned["best"]["config"], HasSubstr("split=1"));
  EXPECT_EQ(parsed(lehr("export --out long --json"))["kernels"], 1);
  for (const char* const rows : {"1", "3", "30"}) {
    const json timed =
        parsed(lehr(std::string("bench rowwise --m ") + rows +
                        " --n 20000 --threads 2 --time 100ms --no-baseline --bundle long --json",
                    softmax));
    EXPECT_TRUE(timed["entries"].back()["missing"].is_null()) << rows << timed["entries"];
  }
}

TEST(RowExpressions, SayWhatIsWrong) {
  const Scratch scratch;
  const auto fault = [&](const std::string& line, const std::string& expression) {
    const Ran ran = run_lehr(command(line, {expression}), scratch.path());
    EXPECT_EQ(ran.code, 1) << ran.out;
    return ran.err;
  };
  const std::string problem = "tune rowwise --m 4 --n 8 --in x:f32 --out y:f32 --device cpu";
  EXPECT_THAT(fault(problem, "y = x + z"),
              HasSubstr("unknown name 'z' (known are x) at column 9 of 'y = x + z'"));
  EXPECT_THAT(fault("tune rowwise --m 4 --n 8 --in x:f32 --device cpu", "y = x"),
              HasSubstr("--out is missing"));
  EXPECT_THAT(fault("tune rowwise --m 4 --n 8 --in x:s8 --out y:f32", "y = x"),
              HasSubstr("neither f32 nor bf16"));
  EXPECT_THAT(fault("show rowwise --m 4 --n 8 --in x:f32 --out y:f32 --arch sm_90a", "y = x"),
              HasSubstr("none of its target is for the operator"));
}

}  // namespace
}  // namespace lehr::testing
