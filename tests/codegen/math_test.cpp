// Tests of the functions of one value: what the C++ text computes, compiled by the system compiler, against
// double precision.
#include <dlfcn.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <vector>

#include "base/error.h"
#include "codegen/emit.h"

namespace lehr {
namespace {

using namespace ir;

constexpr UnaryOp kAll[] = {UnaryOp::kTanh, UnaryOp::kSigmoid, UnaryOp::kSilu, UnaryOp::kGeluTanh,
                            UnaryOp::kGeluErf};
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Returns every size from 2^-30 to 2^8 with 2048 fractions of each, both signs; zero, infinities, not a
/// number.
std::vector<float> points() {
  std::vector<float> all;
  for (int exponent = -30; exponent < 8; ++exponent)
    for (int fraction = 0; fraction < 2048; ++fraction)
      for (const float sign : {1.0f, -1.0f})
        all.push_back(sign * std::ldexp(1.0f + static_cast<float>(fraction) / 2047.5f, exponent));
  for (const float x : {0.0f, -0.0f, kInfinity, -kInfinity, std::nanf("")}) all.push_back(x);
  while (all.size() % 16 != 0) all.push_back(0);
  return all;
}

double defined(UnaryOp op, double x) {
  switch (op) {
    case UnaryOp::kTanh:
      return std::tanh(x);
    case UnaryOp::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case UnaryOp::kSilu:
      return x / (1 + std::exp(-x));
    case UnaryOp::kGeluTanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case UnaryOp::kGeluErf:
      return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
    default:  // lanes_test.cpp
      return x;
  }
}

/// Returns the unit in the last place of an f32 of this size.
double unit_at(double value) {
  const double size = std::max(std::abs(value), 0x1p-126);
  return std::ldexp(1.0, std::ilogb(size) - 23);
}

std::string entry_of(UnaryOp op, int lanes) {
  return fmt::format("{}_of_{}", name_of(op), lanes);
}

/// Returns a kernel for out[i] = op(in[i]) by vectors of `lanes`.
Kernel kernel_of(UnaryOp op, int lanes, std::int64_t count) {
  KernelBuilder builder;
  builder.kernel.name = entry_of(op, lanes);
  builder.kernel.target = Target::kCpu;
  const BufferId in = builder.param("in", DType::kF32, count, Direction::kIn);
  const BufferId out = builder.param("out", DType::kF32, count, Direction::kOut);
  const VarId i = builder.var("i");
  const Expr at = var(i) * lanes;
  builder.kernel.body =
      block(loop(i, count / lanes, LoopKind::kSerial,
                 block(Store{out, at, unary(op, load(in, at, lanes)), lanes, std::nullopt})));
  return std::move(builder.kernel);
}

TEST(MathText, IsAsExactAsItSays) {
  const std::vector<float> in = points();
  char dir_name[] = "/tmp/lehr_math_test_XXXXXX";
  const std::filesystem::path dir = ::mkdtemp(dir_name);
  std::ofstream text(dir / "all.cpp");
  for (const UnaryOp op : kAll)
    for (const int lanes : {1, 4, 8, 16}) {
      const Kernel kernel = kernel_of(op, lanes, static_cast<std::int64_t>(in.size()));
      text << "namespace " << entry_of(op, lanes) << "_space {\n" << emit(kernel).text << "}\n";
    }
  text.close();
  const std::string object = (dir / "all.so").string();
  const std::string command =
      fmt::format("g++ -O2 -march=native -ffp-contract=fast -nostdlib -shared -fPIC -w -o {} {}", object,
                  (dir / "all.cpp").string());
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  void* library = ::dlopen(object.c_str(), RTLD_NOW);
  ASSERT_NE(library, nullptr) << ::dlerror();
  for (const UnaryOp op : kAll) {
    for (const int lanes : {1, 4, 8, 16}) {
      SCOPED_TRACE(entry_of(op, lanes));
      auto entry = reinterpret_cast<void (*)(void* const*, void*, long)>(
          ::dlsym(library, entry_of(op, lanes).c_str()));
      ASSERT_NE(entry, nullptr);
      std::vector<float> out(in.size(), -1);
      void* const params[] = {const_cast<float*>(in.data()), out.data()};
      entry(params, nullptr, 0);
      double worst = 0;
      for (std::size_t i = 0; i < in.size(); ++i) {
        const double x = in[i];
        if (std::isnan(x)) {
          EXPECT_TRUE(std::isnan(out[i])) << out[i];
          continue;
        }
        if (std::isinf(x)) continue;  // below
        // Where x appears as a factor, the error of the other factor counts in units of x.
        const bool factor = op != UnaryOp::kTanh && op != UnaryOp::kSigmoid;
        // Sigmoid's exp stops at 2^-126.
        if (op == UnaryOp::kSigmoid && x < -87) continue;
        const double expected = defined(op, x);
        const double units = std::abs(out[i] - expected) / unit_at(factor ? x : expected);
        ASSERT_LE(units, 6) << "at " << x << ": " << out[i] << ", expected " << expected;
        worst = std::max(worst, units);
      }
      fmt::print("{}: {:.2f} units in the last place\n", entry_of(op, lanes), worst);
      for (std::size_t i = 0; i < in.size(); ++i) {
        if (std::isinf(in[i]) && (op == UnaryOp::kTanh || op == UnaryOp::kSigmoid)) {
          EXPECT_NEAR(out[i], defined(op, in[i]), 6 * 0x1p-23) << in[i];
        }
      }
    }
  }
  ::dlclose(library);
  std::filesystem::remove_all(dir);
}

TEST(MathText, IsOneFunctionOnCuda) {
  KernelBuilder builder;
  builder.kernel.name = "entry";
  builder.kernel.target = Target::kCuda;
  const BufferId in = builder.param("in", DType::kF32, 4, Direction::kIn);
  const BufferId out = builder.param("out", DType::kF32, 4, Direction::kOut);
  const VarId i = builder.var("i");
  builder.kernel.body =
      block(loop(i, 4, LoopKind::kSerial,
                 block(Store{out, var(i), unary(UnaryOp::kSilu, load(in, var(i))), 1, std::nullopt})));
  const std::string text = emit(builder.kernel).text;
  EXPECT_NE(text.find("out[i] = lehr_silu(in[i]);"), std::string::npos) << text;
  EXPECT_NE(text.find("float lehr_silu(float x) { return __fdividef(x, 1.0f + expf(-x)); }"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace lehr
