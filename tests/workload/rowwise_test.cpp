#include "workload/rowwise/rowwise.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/hash.h"
#include "base/small_float.h"
#include "tests/support/make_reference.h"
#include "tests/support/random_rows.h"
#include "tests/support/seed.h"
#include "workload/operator.h"
#include "workload/workload.h"

namespace lehr {
namespace {

using ::testing::HasSubstr;

std::string canonical(const std::string& text) {
  return canonical_rows(text);
}

TEST(RowExpressions, HaveOneText) {
  EXPECT_EQ(canonical(" y = ( x - mean( x ) ) * rsqrt( var(x) + 1e-5 ) * g + b "),
            "y=(x-mean(x))*rsqrt(var(x)+1e-05)*g+b");
  EXPECT_EQ(canonical("y=((a+b))+(c+d);"), "y=a+b+(c+d)") << "no algebra";
  EXPECT_EQ(canonical("y=a-(b-c)*(d/(e/f))"), "y=a-(b-c)*(d/(e/f))");
  EXPECT_EQ(canonical("y=-(a+b)*-(c)*(-2.50)"), "y=-(a+b)*-c*-2.5");
  EXPECT_EQ(canonical("y = select(a > b, 1.0, 0.10)"), "y=select(b<a,1,0.1)");
  EXPECT_EQ(canonical("y = select((a >= b) == (c), max(x), max(x, 0))"), "y=select(b<=a==c,max(x),max(x,0))");
  EXPECT_EQ(canonical("y=gelu(clamp(x,-1,6.0));z=leaky_relu(y,0.10)"),
            "y=gelu_erf(clamp(x,-1,6));z=leaky_relu(y,0.1)");
  const std::uint64_t seed = testing::test_seed(3);
  Rng rng(seed);
  for (int i = 0; i < 300; ++i) {
    const Workload workload = parse_workload(testing::random_rows(rng));
    EXPECT_EQ(canonical(workload.rowwise().expression), workload.rowwise().expression);
    EXPECT_EQ(parse_workload(to_text(workload)), workload);
  }
}

std::string fault(const std::string& in, const std::string& out, const std::string& expression) {
  const std::map<std::string_view, std::string> values = {
      {"m", "4"}, {"n", "8"}, {"in", in}, {"out", out}, {"expr", expression}};
  try {
    Workload workload = operators()[static_cast<std::size_t>(Operator::kRowwise)].usual;
    for (const Field& field : operator_of(workload).fields) {
      if (field.key == "rows") continue;
      field.read(field, field.key, values.at(field.key), workload);
    }
    validate(workload);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUser);
    return error.what();
  }
  return "";
}

TEST(RowExpressions, SayWhatIsWrongAndWhere) {
  const auto of = [](const std::string& text) { return fault("x:f32,g:f32:column", "y:f32", text); };
  EXPECT_EQ(of("y = x * g"), "");
  EXPECT_EQ(of("y = x * z"), "unknown name 'z' (known are x, g) at column 9 of 'y = x * z'");
  EXPECT_EQ(of("y = x + "), "a value is missing at column 9 of 'y = x + '");
  EXPECT_EQ(of("y = (x + g"), "')' is missing at column 11 of 'y = (x + g'");
  EXPECT_EQ(of("y = x g"), "'g' is not expected at column 7 of 'y = x g'");
  EXPECT_EQ(of("x = g"), "x has a value already at column 1 of 'x = g'");
  EXPECT_EQ(of("t = x * g"), "output y is not assigned to in 't = x * g'");
  EXPECT_THAT(of("y = sine(x)"), HasSubstr("unknown function 'sine' (known are f32, bf16, select, exp,"));
  EXPECT_THAT(of("y = min(x, g, x)"), HasSubstr("min does not take 3 values at column 5"));
  EXPECT_THAT(of("y = clamp(x, 6, 1)"), HasSubstr("the lower one first, as in clamp(x,-1,6) at column 5"));
  EXPECT_EQ(of("y = x"), "input g is not read by 'y=x'");
  EXPECT_EQ(of("y = x * 1e99"), "a number of f32 is missing at column 9 of 'y = x * 1e99'");
  EXPECT_THAT(of("y = " + std::string(200, '(') + "x"), HasSubstr("too many levels"));
  EXPECT_THAT(of("y = g" + std::string(9000, ' ')), HasSubstr("at most 1500 characters"));
  std::string terms = "y = g";
  for (int i = 0; i < 70; ++i) terms += "+x*" + std::to_string(i + 2);
  EXPECT_THAT(of(terms), HasSubstr("at most 64 different terms"));
  EXPECT_THAT(of("y=g+mean(x-mean(x-mean(x-mean(x-mean(x)))))"),
              HasSubstr("at most 4 reductions depend on each other"));
  EXPECT_THAT(fault("x:f32", "y:f32:row", "y = x + max(x)"), HasSubstr("differs from column to column"));
  EXPECT_THAT(fault("x:f16", "y:f32", "y = x"), HasSubstr("of neither f32 nor bf16"));
  EXPECT_THAT(fault("x:f32:rows", "y:f32", "y = x"), HasSubstr("the kind of 'x:f32:rows' is none"));
  EXPECT_THAT(fault("x:f32:column/0", "y:f32", "y = x"), HasSubstr("needs a number of rows behind /"));
  EXPECT_THAT(fault("x:f32,x:f32", "y:f32", "y = x"), HasSubstr("two tensors are named x"));
  EXPECT_THAT(fault("x:f32", "y:f32:column", "y = x"),
              HasSubstr("output y has one value an element or a row"));
}

TEST(RowExpressions, MakeEqualSubtreesOneNode) {
  const Workload workload =
      parse_workload("rowwise m=4 n=8 in=x:f32 out=y:f32 expr=y=exp(x-max(x))/sum(exp(x-max(x)))");
  EXPECT_EQ(expression_of(workload.rowwise()).nodes.size(), 6u);
}

TEST(Rowwise, HasTensorsOfAllKinds) {
  const Workload workload = parse_workload(
      "rowwise m=10 n=8 "
      "in=a:f32,b:bf16:row,c:f32:column,d:f32:number,e:f32:column/4,f:f32:column%3,g:f32:row/4,h:f32:"
      "row%3 out=y:bf16,z:f32:row expr=y=a+b+c+d+e+f+g+h;z=b");
  std::vector<std::int64_t> elements;
  for (const TensorSpec& tensor : tensors_of(workload)) elements.push_back(tensor.elements);
  EXPECT_THAT(elements, ::testing::ElementsAre(80, 10, 8, 1, 24, 24, 3, 3, 80, 10));
  EXPECT_FALSE(call_rows(workload).any) << "a tensor has a line for each four rows";
  const Workload any = parse_workload("rowwise m=10 n=8 in=a:f32 out=y:f32 expr=y=a");
  EXPECT_TRUE(call_rows(any).any);
  EXPECT_EQ(tensors_of(with_rows(any, 24))[0].elements, 192);
}

/// Compares each element with the definition: x[r][j], and the other inputs that it needs.
TEST(Rowwise, ReferenceIsTheDefinition) {
  const Workload workload = parse_workload(
      "rowwise m=6 n=5 in=x:f32,k:f32:column/4,l:f32:column%4,s:f32:number out=y:f32,v:f32:row "
      "expr=y=x*s+k-l;v=var(x)");
  const auto inputs = make_inputs(workload, 21);
  const std::vector<Reference> made = make_references(workload, inputs);
  ASSERT_EQ(made.size(), 2u);
  for (std::size_t r = 0; r < 6; ++r) {
    double mean = 0, var = 0;
    for (std::size_t j = 0; j < 5; ++j) mean += static_cast<double>(inputs[0][r * 5 + j]) / 5;
    for (std::size_t j = 0; j < 5; ++j) {
      const double x = inputs[0][r * 5 + j];
      var += (x - mean) * (x - mean) / 5;
      const double y = x * inputs[3][0] + inputs[1][r / 4 * 5 + j] - inputs[2][r % 4 * 5 + j];
      const float got = made[0].values[r * 5 + j];
      EXPECT_TRUE(got == static_cast<float>(y) || std::abs(got - y) < 1e-6 * std::abs(y) ||
                  (std::isnan(got) && std::isnan(y)));
    }
    if (std::isfinite(var)) {
      EXPECT_NEAR(made[1].values[r], var, 1e-6 * var);
    }
    const std::int64_t at = static_cast<std::int64_t>(r);
    const float alone = reference_at(workload, 21, 1, std::span(&at, 1))[0];
    EXPECT_TRUE(alone == made[1].values[r] || std::isnan(alone));
  }
}

/// Counts the elements whose value may be anything.
TEST(Rowwise, AlmostAllElementsAreKnown) {
  const std::uint64_t seed = testing::test_seed(4);
  Rng rng(seed);
  double unknown = 0, all = 0, loose = 0;
  for (int i = 0; i < 100; ++i) {
    const Workload workload = parse_workload(testing::random_rows(rng, 5000));
    for (const Reference& output : make_references(workload, make_inputs(workload, 3))) {
      for (std::size_t j = 0; j < output.values.size(); ++j, ++all) {
        const float value = output.values[j], bound = output.bounds[j];
        if (std::isinf(bound))
          ++unknown;
        else if (std::isfinite(value) && bound > 1e-2F * (1 + std::abs(value)))
          ++loose;
      }
    }
  }
  EXPECT_LT(unknown, 0.1 * all) << seed;
  EXPECT_LT(loose, 0.1 * all) << seed;
}

// The tests below find what a wrong kernel computes.

using Row = std::vector<float>;
using Compute = std::function<Row(const Row& x)>;

/// Returns how many rows of `text` have a computed value outside of the bounds.
int wrong_rows(const std::string& text, std::uint64_t seed, const Compute& compute) {
  const Workload workload = parse_workload(text);
  const auto inputs = make_inputs(workload, seed);
  const Reference expected = make_references(workload, inputs)[0];
  const auto n = static_cast<std::size_t>(workload.rowwise().n);
  int wrong = 0;
  for (std::size_t row = 0; row * n < inputs[0].size(); ++row) {
    const auto first = inputs[0].begin() + static_cast<std::ptrdiff_t>(row * n);
    const Row got = compute(Row(first, first + static_cast<std::ptrdiff_t>(n)));
    bool right = true;
    for (std::size_t j = 0; j < n; ++j) {
      const float want = expected.values[row * n + j], bound = expected.bounds[row * n + j];
      if (std::isinf(bound) || (std::isnan(want) && std::isnan(got[j])) || want == got[j]) continue;
      right = right && std::abs(static_cast<double>(got[j]) - want) <= bound;
    }
    wrong += right ? 0 : 1;
  }
  return wrong;
}

struct Softmax {
  bool maximum = true;
  std::size_t left_out = 0;
  Row operator()(const Row& x) const {
    float most = -HUGE_VALF, sum = 0;
    for (const float each : x)
      if (each > most) most = each;
    if (!maximum) most = 0;
    Row y;
    for (const float each : x) y.push_back(std::exp(each - most));
    for (std::size_t j = 0; j + left_out < x.size(); ++j) sum += y[j];
    for (float& each : y) each /= sum;
    return y;
  }
};

constexpr const char* kSoftmax = "out=y:f32 expr=y=exp(x-max(x))/sum(exp(x-max(x)))";

/// Returns a seed with which the first row has one spike, in its last column.
std::uint64_t seed_of_spike() {
  std::uint64_t seed = 1;
  while (mix64(seed) % 16 != 5) ++seed;
  return seed;
}

TEST(RowBounds, FindASoftmaxThatIsWrong) {
  const std::string text = std::string("rowwise m=48 n=200 in=x:f32 ") + kSoftmax;
  EXPECT_EQ(wrong_rows(text, 5, Softmax{}), 0);
  EXPECT_GT(wrong_rows(text, 5, Softmax{.maximum = false}), 0);
  EXPECT_GT(wrong_rows(text, 5, Softmax{.left_out = 1}), 20);
  const std::string large = std::string("rowwise m=1 n=1000000 in=x:f32 ") + kSoftmax;
  EXPECT_EQ(wrong_rows(large, seed_of_spike(), Softmax{}), 0);
  EXPECT_EQ(wrong_rows(large, seed_of_spike(), Softmax{.left_out = 1}), 1);
}

struct LayerNorm {
  bool of_squares = false, epsilon = true, narrow = false;
  std::size_t less = 0;
  float rounded(float sum) const { return narrow ? from_bf16(to_bf16(sum)) : sum; }
  Row operator()(const Row& x) const {
    const auto n = static_cast<float>(x.size());
    float sum = 0, squares = 0;
    for (const float each : x) sum = rounded(sum + each);
    const float mean = sum / n;
    for (const float each : x)
      squares = rounded(squares + (of_squares ? each * each : (each - mean) * (each - mean)));
    float var = squares / (n - static_cast<float>(less));
    if (of_squares) var -= mean * mean;
    Row y;
    for (const float each : x) y.push_back((each - mean) / std::sqrt(var + (epsilon ? 1e-5F : 0)));
    return y;
  }
};

TEST(RowBounds, FindALayerNormalizationThatIsWrong) {
  for (const int n : {64, 768, 4096}) {
    SCOPED_TRACE(n);
    const std::string text =
        fmt::format("rowwise m=32 n={} in=x:f32 out=y:f32 expr=y=(x-mean(x))*rsqrt(var(x)+1e-5)", n);
    EXPECT_EQ(wrong_rows(text, 5, LayerNorm{}), 0);
    EXPECT_GT(wrong_rows(text, 5, LayerNorm{.of_squares = true}), 0);
    EXPECT_GT(wrong_rows(text, 5, LayerNorm{.epsilon = false}), 0);
    EXPECT_GT(wrong_rows(text, 5, LayerNorm{.narrow = true}), 20);
    EXPECT_GT(wrong_rows(text, 5, LayerNorm{.less = 1}), 10);
  }
}

}  // namespace
}  // namespace lehr
