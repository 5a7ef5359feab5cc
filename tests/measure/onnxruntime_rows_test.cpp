// Compares ONNX Runtime on row expressions with our reference, on problems as a session poses them: each kind
// of tensor, each operator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "measure/vendor/onnxruntime/baseline_onnxruntime.h"
#include "tests/support/problem_for.h"
#include "tests/support/random_rows.h"

namespace lehr {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

/// Returns the engine that the tests of networks installed; empty where they did not run.
std::vector<std::string> engine() {
  const std::filesystem::path folder = LEHR_ONNXRUNTIME_FOLDER;
  std::vector<std::string> found;
  if (!std::filesystem::exists(folder)) return found;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().filename().string().starts_with("libonnxruntime.so")) found.push_back(entry.path());
  return found;
}

/// Returns what the engine ran, or why it did not.
std::string ran(const std::string& text) {
  const std::unique_ptr<Runner> runner = onnxruntime::kLibrary.baselines[0].make_runner();
  RunSettings settings;
  settings.onnxruntime = engine();
  try {
    runner->prepare(problem_for(parse_workload(text), 3), settings);
  } catch (const Error& error) {
    return error.what();
  }
  const auto checked = runner->check(0);
  if (const auto* fault = std::get_if<Fault>(&checked)) return fault->failure.text;
  const auto samples = runner->time(0, {.sample_us = 10, .min_samples = 3, .min_total_us = 100});
  EXPECT_GT(std::get<Samples>(samples).us.at(0), 0);
  EXPECT_GT(std::get<Checked>(checked).overhead_us, 0);
  return std::get<Checked>(checked).note;
}

std::string rows_of(const std::string& expression, const std::string& more = "",
                    const std::string& type = "f32") {
  return "rowwise m=12 n=133 in=x:" + type + more + " out=y:" + type + " expr=" + expression;
}

const char* const kRan = "ONNX Runtime [0-9.]+: .+; a call of one element takes [0-9.]+ us";

TEST(OnnxRuntimeRows, AgreeWithTheReference) {
  if (engine().empty()) GTEST_SKIP() << "the tests of networks have installed no ONNX Runtime";
  const std::string both = ",g:f32:column,b:f32:column";
  for (const std::string& text :
       {rows_of("y=exp(x-max(x))/sum(exp(x-max(x)))"), rows_of("z=x+b;e=exp(z-max(z));y=e/sum(e)", ",b:f32"),
        rows_of("z=x-max(x);y=z-log(sum(exp(z)))"), rows_of("y=(x-mean(x))*rsqrt(var(x)+1e-5)*g+b", both),
        rows_of("y=x*rsqrt(mean(x*x)+1e-5)*g", ",g:f32:column"),
        rows_of("y=(x-mean(x))*rsqrt(var(x)+1e-5)*g+b", both, "bf16"),
        rows_of("y=gelu_erf(x+b)", ",b:f32:column"), rows_of("y=silu(x)*gelu_tanh(x)+tanh(x)"),
        rows_of("y=relu(x)-relu6(x)+clamp(x,-1,0.5)/(2+hard_swish(x))+leaky_relu(x,0.1)"),
        rows_of("y=select(x<0,-x,sqrt(abs(x)))+select(x,1,2)+(x<=0.5)"),
        rows_of("y=min(x,s)+max(x,r)", ",s:f32:number,r:f32:row"), rows_of("y=bf16(x)+log(1+x*x)"),
        rows_of("y=x*(max(x)-min(x))+var(x)+sum(r)+mean(r)+var(r)", ",r:f32:row"),
        std::string("rowwise m=12 n=5 in=b:f32:column out=y:f32 expr=y=b")})
    EXPECT_THAT(ran(text), MatchesRegex(kRan)) << text;
}

TEST(OnnxRuntimeRows, AgreeWithTheReferenceWhereRowsShareLines) {
  if (engine().empty()) GTEST_SKIP() << "the tests of networks have installed no ONNX Runtime";
  for (const std::string& text :
       {rows_of("y=x+a*b", ",a:f32:column/4,b:f32:column%4"), rows_of("y=x*a+b", ",a:f32:row/3,b:f32:row%3"),
        std::string("rowwise m=12 n=5 in=x:f32,a:bf16:column/4 out=s:f32:row,y:bf16 expr=s=sum(x*a);y=x*s")})
    EXPECT_THAT(ran(text), MatchesRegex(kRan)) << text;
}

// The engine may be wrong where bits of bf16 or NaN decide, or where a bound is met narrowly.
TEST(OnnxRuntimeRows, AgreeWithTheReferenceOnRandomExpressions) {
  if (engine().empty()) GTEST_SKIP() << "the tests of networks have installed no ONNX Runtime";
  Rng rng(74);
  int right = 0, wrong = 0;
  for (int i = 0; i < 80; ++i) {
    const std::string text = testing::random_rows(rng), note = ran(text);
    if (note.starts_with("onnxruntime is not asked for")) continue;
    const bool agrees = note.ends_with(" us");
    (agrees ? right : wrong) += 1;
    if (!agrees) fmt::print("{}\n  {}\n", text, note);
  }
  EXPECT_GT(right, 40);
  EXPECT_LT(wrong, 5);
}

TEST(OnnxRuntimeRows, SayThatNoEngineIsHere) {
  const std::unique_ptr<Runner> runner = onnxruntime::kLibrary.baselines[0].make_runner();
  RunSettings without;
  without.onnxruntime = {"/nowhere.so"};
  try {
    runner->prepare(problem_for(parse_workload(rows_of("y=exp(x)")), 3), without);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_THAT(error.what(), HasSubstr("no ONNX Runtime is here"));
  }
}

TEST(OnnxRuntimeRows, SayWhatTheyAreNotAskedFor) {
  EXPECT_EQ(
      ran(rows_of("y=x+a", ",a:f32:column/5")),
      "onnxruntime is not asked for a:f32:column/5 of 12 rows: its rows are no whole number of equal groups");
  EXPECT_THAT(ran(rows_of("y=x+a+b", ",a:f32:column/3,b:f32:column%4")),
              HasSubstr("b:f32:column%4 of 12 rows"));
  EXPECT_EQ(ran("gemm m=4 n=4 k=4"), "onnxruntime is asked for row expressions only");
}

}  // namespace
}  // namespace lehr
