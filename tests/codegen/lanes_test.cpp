// Tests of vector operations beside sums and products: functions with the ends that IEEE 754 gives them,
// masks, largest lanes, stores past the caches. Compiled by the system's compilers for several processors.
#include <dlfcn.h>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/small_float.h"
#include "codegen/emit.h"
#include "tests/support/verify.h"

namespace lehr {
namespace {

using namespace ir;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr int kWidths[] = {1, 4, 8, 16};

/// Compilers, with the processor that each compiles for.
constexpr const char* kBuilds[] = {"g++ -march=native", "g++ -mavx2 -mfma", "g++", "clang++ -march=native",
                                   "clang++ -mavx2 -mfma"};

class LanesText : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string compiler(
        std::string_view(GetParam()).substr(0, std::string_view(GetParam()).find(' ')));
    if (std::system(fmt::format("command -v {} >/dev/null", compiler).c_str()) != 0)
      GTEST_SKIP() << compiler << " is not installed";
  }
  /// Compiles the kernels, each in a namespace of its own.
  void compile(const std::vector<Kernel>& kernels) {
    char dir_name[] = "/tmp/lehr_lanes_test_XXXXXX";
    dir_ = ::mkdtemp(dir_name);
    std::ofstream text(dir_ / "all.cpp");
    for (const Kernel& kernel : kernels) {
      ASSERT_EQ(why_malformed(kernel).value_or(""), "");
      text << "namespace in_" << kernel.name << " {\n" << emit(kernel).text << "}\n";
    }
    text.close();
    const std::string object = (dir_ / "all.so").string();
    const std::string command = fmt::format(
        "{} -O2 -ffp-contract=fast -fno-math-errno -nostdlib -shared -fPIC -w -Wno-psabi -o {} {}",
        GetParam(), object, (dir_ / "all.cpp").string());
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    library_ = ::dlopen(object.c_str(), RTLD_NOW);
    ASSERT_NE(library_, nullptr) << ::dlerror();
  }
  void run(const std::string& kernel, const void* in, void* out) const {
    using Entry = void (*)(void* const*, void*, long);
    const auto entry = reinterpret_cast<Entry>(::dlsym(library_, kernel.c_str()));
    ASSERT_NE(entry, nullptr) << kernel;
    void* const params[] = {const_cast<void*>(in), out};
    entry(params, nullptr, 0);
  }
  void TearDown() override {
    if (library_ != nullptr) ::dlclose(library_);
    if (!dir_.empty()) std::filesystem::remove_all(dir_);
  }

 private:
  std::filesystem::path dir_;
  void* library_ = nullptr;
};

/// Returns a kernel for out[i] = value(in, i), for each i of 0, lanes, 2 lanes, ... of `count` elements.
template <typename Value>
Kernel vectors_kernel(const std::string& name, DType type, std::int64_t count, int lanes,
                      const Value& value) {
  KernelBuilder builder;
  builder.kernel.name = fmt::format("{}_of_{}", name, lanes);
  builder.kernel.target = Target::kCpu;
  const BufferId in = builder.param("in", type, count, Direction::kIn);
  const BufferId out = builder.param("out", type, count, Direction::kOut);
  const VarId i = builder.var("i");
  const Expr at = var(i) * lanes;
  builder.kernel.body = block(
      loop(i, count / lanes, LoopKind::kSerial, block(Store{out, at, value(in, at), lanes, std::nullopt})));
  return std::move(builder.kernel);
}

/// Returns all exponents, and denormal numbers, with 256 fractions of each, both signs; around 1; the whole
/// range of exp; zeros, ends, infinities, not a number.
std::vector<float> points_of_all_sizes() {
  std::vector<float> all = {0.0f, -0.0f, kInf, -kInf, kNan, -kNan, 1, -1};
  for (const float end : {88.7228317f, -87.3365402f, -103.972f, 0x1p-126f, 0x1p-149f, 0x1.fffffep127f, 1.0f})
    for (const float x : {end, std::nextafter(end, kInf), std::nextafter(end, -kInf)}) all.push_back(x);
  for (int exponent = -149; exponent < 128; ++exponent)
    for (int fraction = 0; fraction < 256; ++fraction)
      for (const float sign : {1.0f, -1.0f})
        all.push_back(sign * std::ldexp(1.0f + static_cast<float>(fraction) / 256.03f, exponent));
  for (int i = -4096; i < 4096; ++i) all.push_back(1 + static_cast<float>(i) * 0x1p-23f);
  for (int i = -110 * 512; i < 90 * 512; ++i) all.push_back(static_cast<float>(i) * 0x1.00034p-9f);
  while (all.size() % 16 != 0) all.push_back(0);
  return all;
}

struct FunctionCase {
  UnaryOp op;
  double (*defined)(double);
  double units;  ///< the most units in the last place
};
constexpr FunctionCase kIeeeFunctions[] = {{UnaryOp::kExp, [](double x) { return std::exp(x); }, 2},
                                           {UnaryOp::kLog, [](double x) { return std::log(x); }, 2},
                                           {UnaryOp::kSqrt, [](double x) { return std::sqrt(x); }, 0.5},
                                           {UnaryOp::kRsqrt, [](double x) { return 1 / std::sqrt(x); }, 2},
                                           {UnaryOp::kAbs, [](double x) { return std::abs(x); }, 0}};

/// Returns how far a result is from `expected`, in units in the last place; 0 where both are infinite alike
/// or not a number.
double units_between(float got, double expected, bool denormal_is_zero) {
  const auto nearest = static_cast<float>(expected);
  if (std::isnan(expected)) return std::isnan(got) ? 0 : kInf;
  if (std::isinf(nearest)) return got == nearest ? 0 : kInf;
  if (denormal_is_zero && expected < 0x1p-126) return got == 0 ? 0 : kInf;
  const double size = std::max(std::abs(expected), 0x1p-126);
  return std::abs(got - expected) / std::ldexp(1.0, std::ilogb(size) - 23);
}

TEST_P(LanesText, FunctionsHaveTheEndsOfIeee754) {
  const std::vector<float> in = points_of_all_sizes();
  std::vector<Kernel> kernels;
  for (const FunctionCase& function : kIeeeFunctions)
    for (const int lanes : kWidths)
      kernels.push_back(vectors_kernel(
          std::string(name_of(function.op)), DType::kF32, static_cast<std::int64_t>(in.size()), lanes,
          [&](BufferId x, const Expr& at) { return unary(function.op, load(x, at, lanes)); }));
  ASSERT_NO_FATAL_FAILURE(compile(kernels));
  for (const FunctionCase& function : kIeeeFunctions)
    for (const int lanes : kWidths) {
      const std::string name = fmt::format("{}_of_{}", name_of(function.op), lanes);
      std::vector<float> out(in.size(), -1);
      ASSERT_NO_FATAL_FAILURE(run(name, in.data(), out.data()));
      double worst = 0;
      for (std::size_t i = 0; i < in.size(); ++i) {
        const double expected = function.defined(in[i]);
        const double units = units_between(out[i], expected, function.op == UnaryOp::kExp);
        ASSERT_LE(units, function.units)
            << name << " at " << in[i] << ": " << out[i] << ", expected " << expected;
        if (expected == 0 || std::isinf(expected)) {
          ASSERT_EQ(std::signbit(out[i]), std::signbit(expected)) << name << " at " << in[i];
        }
        worst = std::max(worst, units);
      }
      fmt::print("{}: {:.2f} units in the last place\n", name, worst);
    }
}

/// Lanes of which some are not a number, and all of them in the last vector.
std::vector<float> with_nan() {
  std::vector<float> all;
  for (int i = 0; i < 240; ++i)
    all.push_back(i % 7 == 3 || i % 5 == 0 ? kNan : static_cast<float>(i * 37 % 101 - 50));
  all.resize(256, kNan);
  return all;
}

TEST_P(LanesText, TheLargestAndTheLeastLanePassOverWhatIsNoNumber) {
  const std::vector<float> in = with_nan();
  std::vector<Kernel> kernels;
  for (const int lanes : {4, 8, 16})
    for (const auto& [name, reduce] : {std::pair{"largest", &reduce_max}, {"least", &reduce_min}})
      kernels.push_back(vectors_kernel(name, DType::kF32, 256, lanes, [&](BufferId x, const Expr& at) {
        return splat(reduce(load(x, at, lanes)), lanes);
      }));
  ASSERT_NO_FATAL_FAILURE(compile(kernels));
  for (const int lanes : {4, 8, 16})
    for (const bool largest : {true, false}) {
      std::vector<float> out(in.size(), -1);
      ASSERT_NO_FATAL_FAILURE(
          run(fmt::format("{}_of_{}", largest ? "largest" : "least", lanes), in.data(), out.data()));
      for (std::size_t i = 0; i < in.size(); ++i) {
        float expected = largest ? -kInf : kInf;
        const std::size_t begin = i - i % static_cast<std::size_t>(lanes);
        for (std::size_t lane = begin; lane < begin + static_cast<std::size_t>(lanes); ++lane)
          expected = largest ? std::fmax(expected, in[lane]) : std::fmin(expected, in[lane]);
        ASSERT_EQ(out[i], expected) << lanes << " lanes, at " << i;
      }
    }
}

TEST_P(LanesText, MasksChooseEachLane) {
  const std::vector<float> in = with_nan();
  std::vector<Kernel> kernels;
  const auto of = [](BufferId x, const Expr& at, int lanes) {
    const auto number = [&](double n) { return lanes == 1 ? Expr(Float{n}) : splat(Float{n}, lanes); };
    const Expr value = load(x, at, lanes), ten = number(10);
    const Expr inside = logical_and(le(number(0), value), lt(value, ten));
    return select(inside, value * value, select(eq(value, number(-3)), ten, value));
  };
  for (const int lanes : kWidths)
    kernels.push_back(vectors_kernel("chosen", DType::kF32, 256, lanes,
                                     [&](BufferId x, const Expr& at) { return of(x, at, lanes); }));
  ASSERT_NO_FATAL_FAILURE(compile(kernels));
  for (const int lanes : kWidths) {
    std::vector<float> out(in.size(), -1);
    ASSERT_NO_FATAL_FAILURE(run(fmt::format("chosen_of_{}", lanes), in.data(), out.data()));
    for (std::size_t i = 0; i < in.size(); ++i) {
      const float x = in[i], expected = 0 <= x && x < 10 ? x * x : x == -3 ? 10 : x;
      ASSERT_TRUE(out[i] == expected || (std::isnan(out[i]) && std::isnan(expected)))
          << lanes << " lanes of " << x << ": " << out[i];
    }
  }
}

TEST_P(LanesText, StreamedVectorsArriveWhereverTheyLie) {
  std::vector<Kernel> kernels;
  for (const int lanes : kWidths) {
    Kernel kernel = vectors_kernel("streamed", DType::kF32, 256, lanes,
                                   [&](BufferId x, const Expr& at) { return load(x, at, lanes); });
    Store store = std::get<Store>(std::get<For>(kernel.body[0].node).body[0].node);
    store.streaming = true;
    kernel.body =
        block(loop(std::get<For>(kernel.body[0].node).var, 256 / lanes, LoopKind::kSerial, block(store)));
    kernels.push_back(std::move(kernel));
  }
  ASSERT_NO_FATAL_FAILURE(compile(kernels));
  std::vector<float> in(256);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
  for (const int lanes : kWidths)
    for (std::size_t skipped = 0; skipped < 18; ++skipped) {
      std::vector<float> out(256 + 32, -1);
      ASSERT_NO_FATAL_FAILURE(run(fmt::format("streamed_of_{}", lanes), in.data(), out.data() + skipped));
      for (std::size_t i = 0; i < out.size(); ++i)
        ASSERT_EQ(out[i], i < skipped || i >= skipped + 256 ? -1 : in[i - skipped]) << lanes << " lanes";
    }
}

/// Rows of 21 in bf16, doubled in f32.
TEST_P(LanesText, TheEndsOfRowsOfBf16AreTakenApart) {
  constexpr std::int64_t kRow = 21, kRows = 12;
  std::vector<Kernel> kernels;
  for (const int lanes : {4, 8, 16}) {
    KernelBuilder builder;
    builder.kernel.name = fmt::format("doubled_of_{}", lanes);
    builder.kernel.target = Target::kCpu;
    const BufferId in = builder.param("in", DType::kBF16, kRow * kRows, Direction::kIn);
    const BufferId out = builder.param("out", DType::kBF16, kRow * kRows, Direction::kOut);
    const VarId row = builder.var("row"), i = builder.var("i");
    const Expr at = var(row) * kRow + var(i) * lanes, left = integer(kRow) - var(i) * lanes;
    const Expr value = cast(DType::kF32, load_active(in, at, lanes, left)) * splat(Float{2}, lanes);
    const Stmt store = Store{out, at, cast(DType::kBF16, value), lanes, left, true};
    builder.kernel.body =
        block(loop(row, kRows, LoopKind::kSerial,
                   block(loop(i, (kRow + lanes - 1) / lanes, LoopKind::kSerial, block(store)))));
    kernels.push_back(std::move(builder.kernel));
  }
  ASSERT_NO_FATAL_FAILURE(compile(kernels));
  std::vector<std::uint16_t> in(kRow * kRows);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = to_bf16(static_cast<float>(i) - 100.5f);
  in[5] = to_bf16(kNan);
  for (const int lanes : {4, 8, 16}) {
    std::vector<std::uint16_t> out(in.size() + 16, 7);
    ASSERT_NO_FATAL_FAILURE(run(fmt::format("doubled_of_{}", lanes), in.data(), out.data()));
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (i == 5) {
        ASSERT_TRUE(std::isnan(from_bf16(out[i])));
      } else {
        ASSERT_EQ(out[i], i < in.size() ? to_bf16(2 * from_bf16(in[i])) : 7) << lanes << " lanes, at " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Compilers, LanesText, ::testing::ValuesIn(kBuilds));

/// Returns a kernel for out[0 .. 8) = in[0 .. 8), past the caches.
Kernel streaming(bool streams, std::optional<Expr> active, int lanes) {
  KernelBuilder builder;
  builder.kernel.name = "entry";
  builder.kernel.target = Target::kCpu;
  const BufferId in = builder.param("in", DType::kF32, 16, Direction::kIn);
  const BufferId out = builder.param("out", DType::kF32, 16, Direction::kOut);
  builder.kernel.body = block(Store{out, integer(0), load(in, integer(0), lanes), lanes, active, streams});
  return std::move(builder.kernel);
}

TEST(Streaming, EndsAPartWithAFenceAndLeavesOtherStoresAsTheyAre) {
  const std::string text = emit(streaming(true, std::nullopt, 8)).text;
  EXPECT_THAT(
      text, ::testing::EndsWith("  lehr_stream8(out, *(const f32x8_u*)(in));\n  lehr_stores_fence();\n}\n"));
  EXPECT_EQ(emit(streaming(true, integer(3), 8)).text, emit(streaming(false, integer(3), 8)).text);
  EXPECT_EQ(emit(streaming(true, std::nullopt, 1)).text, emit(streaming(false, std::nullopt, 1)).text);
}

TEST(Functions, AreThoseOfCudaThere) {
  KernelBuilder builder;
  builder.kernel.name = "entry";
  builder.kernel.target = Target::kCuda;
  const BufferId out = builder.param("out", DType::kF32, 4, Direction::kOut);
  const Expr x = load(builder.param("in", DType::kF32, 4, Direction::kIn), integer(0));
  const Expr y = load(builder.param("wide", DType::kF64, 4, Direction::kIn), integer(0));
  for (const FunctionCase& function : kIeeeFunctions) {
    builder.kernel.body =
        block(Store{out, integer(0), unary(function.op, x), 1, std::nullopt},
              Store{out, integer(1), cast(DType::kF32, unary(function.op, y)), 1, std::nullopt});
    EXPECT_EQ(why_malformed(builder.kernel).value_or(""), "");
    const std::string text = emit(builder.kernel).text;
    EXPECT_THAT(text, ::testing::ContainsRegex("float lehr_[a-z_]+\\(float x\\) \\{ return .*f\\(x\\); \\}"));
    EXPECT_THAT(text, ::testing::ContainsRegex("double lehr_[a-z_]+_f64\\(double x\\) \\{ return "));
  }
}

}  // namespace
}  // namespace lehr
