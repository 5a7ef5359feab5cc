// Compares what the C++ text computes for bf16 and 8-bit integers with the definition, bit for bit. The
// system compiler compiles it for this processor, for AVX2 and for the plainest one. On a processor that has
// an instruction, the first of them runs it.
#include <dlfcn.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/rng.h"
#include "base/small_float.h"
#include "target/prelude.h"
#include "tests/support/guarded.h"

namespace lehr {
namespace {

constexpr std::uint64_t kSeed = 53;
constexpr int kLanes[] = {4, 8, 16};

using Dot = void (*)(void* c, const void* a, const void* b);
using Cast = void (*)(void* to, const void* from);
using Groups = void (*)(void* to, const void* from, long count, long from_step, long line_step, long lines,
                        long to_step);

float flushed(float x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
}

/// Computes as in Intel's Software Developer's Manual, "VDPBF16PS": the product of odd number first.
float bf16_dot(float c, const std::uint16_t* a, const std::uint16_t* b) {
  for (const int e : {1, 0})
    c = flushed(std::fmaf(flushed(from_bf16(a[e])), flushed(from_bf16(b[e])), flushed(c)));
  return c;
}

template <typename T>
std::vector<T> drawn(Rng& rng, std::size_t count) {
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(rng.below(std::uint64_t{1} << (8 * sizeof(T))));
  return values;
}

/// Returns numbers of ordinary size, denormal numbers and zeros, of either sign.
std::vector<std::uint16_t> drawn_bf16(Rng& rng, std::size_t count) {
  std::vector<std::uint16_t> values = drawn<std::uint16_t>(rng, count);
  for (std::uint16_t& value : values)
    value = static_cast<std::uint16_t>((value & 0x807f) | (rng.below(8) == 0 ? 0 : 110 + rng.below(40)) << 7);
  return values;
}

class NarrowText : public ::testing::TestWithParam<const char*> {
 protected:
  /// Compiles `entries` with the helpers that they use.
  void compile(const SnippetSet& used, const std::string& entries) {
    char dir_name[] = "/tmp/lehr_narrow_test_XXXXXX";
    dir_ = ::mkdtemp(dir_name);
    std::ofstream(dir_ / "all.cpp") << prelude(Target::kCpu, used) << entries;
    const std::string object = (dir_ / "all.so").string();
    const std::string command =
        fmt::format("g++ -O2 {} -ffp-contract=fast -nostdlib -shared -fPIC -w -Wno-psabi -o {} {}",
                    GetParam(), object, (dir_ / "all.cpp").string());
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    library_ = ::dlopen(object.c_str(), RTLD_NOW);
    ASSERT_NE(library_, nullptr) << ::dlerror();
  }
  template <typename Function>
  Function entry(const std::string& name) const {
    return reinterpret_cast<Function>(::dlsym(library_, name.c_str()));
  }
  void TearDown() override {
    if (library_ != nullptr) ::dlclose(library_);
    std::filesystem::remove_all(dir_);
  }

 private:
  std::filesystem::path dir_;
  void* library_ = nullptr;
};

struct DotCase {
  const char* types;
  const char* sums;
  const char* b;
  int group;
};
constexpr DotCase kDots[] = {{"bf16_bf16", "f32", "bf16", 2},
                             {"f32_bf16", "f32", "bf16", 2},
                             {"u8_s8", "s32", "s8", 4},
                             {"u8_s7", "s32", "s7", 4},
                             {"s16_s16", "s32", "s16", 2}};

/// Runs a dot on random bytes for each number of lanes, and hands its arguments and its result to `judge`.
template <typename Sum, typename A, typename B, typename Judge>
void try_dot(Dot dot, int lanes, int group, Rng& rng, const Judge& judge) {
  for (int repeat = 0; repeat < 2000; ++repeat) {
    std::vector<A> a;
    std::vector<B> b;
    std::vector<Sum> c(static_cast<std::size_t>(lanes));
    const auto all = static_cast<std::size_t>(lanes * group);
    if constexpr (std::is_same_v<B, std::uint16_t>)
      b = drawn_bf16(rng, all);
    else
      b = drawn<B>(rng, all);
    if constexpr (std::is_same_v<A, std::uint16_t>) {
      a = drawn_bf16(rng, static_cast<std::size_t>(group));
    } else if constexpr (std::is_same_v<A, float>) {
      for (const std::uint16_t bits : drawn_bf16(rng, static_cast<std::size_t>(group)))
        a.push_back(from_bf16(bits));
    } else {
      a = drawn<A>(rng, static_cast<std::size_t>(group));
    }
    for (Sum& sum : c)
      if constexpr (std::is_same_v<Sum, float>)
        sum = std::ldexp(static_cast<float>(rng.below(1 << 20)) - (1 << 19), -20 - 120 * (rng.below(8) == 0));
      else
        sum = static_cast<Sum>(rng.below(1 << 24)) - (1 << 23);
    std::vector<Sum> got = c;
    dot(got.data(), a.data(), b.data());
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_NO_FATAL_FAILURE(judge(got[i], c[i], a.data(), b.data() + i * static_cast<std::size_t>(group)));
  }
}

TEST_P(NarrowText, DotsAddTheProductsOfNeighbours) {
  SnippetSet used;
  std::string entries;
  for (const DotCase& each : kDots)
    for (const int lanes : kLanes) {
      const std::string name = fmt::format("dot_{}x{}", each.types, lanes);
      used.insert(name);
      entries += fmt::format(
          "extern \"C\" void {0}(void* c, const void* a, const void* b) {{\n"
          "  *({1}x{2}_u*)c = lehr_{0}(*({1}x{2}_u*)c, a, *(const {3}x{4}_u*)b);\n}}\n",
          name, each.sums, lanes, each.b, lanes * each.group);
    }
  ASSERT_NO_FATAL_FAILURE(compile(used, entries));
  Rng rng(kSeed);
  for (const int lanes : kLanes) {
    SCOPED_TRACE(fmt::format("{} lanes, seed {}", lanes, kSeed));
    const auto dot = [&](const char* types) { return entry<Dot>(fmt::format("dot_{}x{}", types, lanes)); };
    try_dot<float, std::uint16_t, std::uint16_t>(
        dot("bf16_bf16"), lanes, 2, rng,
        [](float got, float c, const std::uint16_t* a, const std::uint16_t* b) {
          ASSERT_EQ(std::bit_cast<std::uint32_t>(got), std::bit_cast<std::uint32_t>(bf16_dot(c, a, b)))
              << got << " of " << c;
        });
    try_dot<float, float, std::uint16_t>(
        dot("f32_bf16"), lanes, 2, rng, [](float got, float c, const float* a, const std::uint16_t* b) {
          const double p = static_cast<double>(a[0]) * from_bf16(b[0]),
                       q = static_cast<double>(a[1]) * from_bf16(b[1]);
          const double size = std::abs(p) + std::abs(q) + std::abs(static_cast<double>(c));
          ASSERT_NEAR(got, c + p + q, size * 0x1p-23 + 0x1p-148);  // denormal numbers round, too
        });
    try_dot<std::int32_t, std::uint8_t, std::int8_t>(
        dot("u8_s8"), lanes, 4, rng, [](int got, int c, const std::uint8_t* a, const std::int8_t* b) {
          ASSERT_EQ(got, c + a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]);
        });
    const auto sevens = dot("u8_s7");
    for (int repeat = 0; repeat < 2000; ++repeat) {
      const auto a = drawn<std::uint8_t>(rng, 4);
      auto b = drawn<std::int8_t>(rng, static_cast<std::size_t>(4 * lanes));
      for (std::int8_t& each : b) each = static_cast<std::int8_t>(each == -128 ? 64 : each >> 1);
      std::vector<std::int32_t> c(static_cast<std::size_t>(lanes), 12345);
      sevens(c.data(), a.data(), b.data());
      for (std::size_t i = 0; i < c.size(); ++i)
        ASSERT_EQ(c[i],
                  12345 + a[0] * b[4 * i] + a[1] * b[4 * i + 1] + a[2] * b[4 * i + 2] + a[3] * b[4 * i + 3]);
    }
    const auto words = dot("s16_s16");  // that were 8-bit integers
    for (int repeat = 0; repeat < 2000; ++repeat) {
      const auto a = drawn<std::uint8_t>(rng, 2);
      const auto b = drawn<std::int8_t>(rng, static_cast<std::size_t>(2 * lanes));
      const std::vector<std::int16_t> wide_a(a.begin(), a.end()), wide_b(b.begin(), b.end());
      std::vector<std::int32_t> c(static_cast<std::size_t>(lanes), 12345);
      words(c.data(), wide_a.data(), wide_b.data());
      for (std::size_t i = 0; i < c.size(); ++i)
        ASSERT_EQ(c[i], 12345 + a[0] * b[2 * i] + a[1] * b[2 * i + 1]);
    }
  }
}

TEST_P(NarrowText, CastsRoundAsTheReferenceDoes) {
  SnippetSet used;
  std::string entries;
  const auto add = [&](const char* to, const char* from, int lanes) {
    const std::string name = fmt::format("{}_from_{}x{}", to, from, lanes);
    used.insert(name);
    entries += fmt::format(
        "extern \"C\" void {0}(void* to, const void* from) {{\n"
        "  *({1}x{2}_u*)to = lehr_{0}(*(const {3}x{2}_u*)from);\n}}\n",
        name, to, lanes, from);
  };
  for (const int lanes : kLanes)
    for (const auto& [to, from] : {std::pair{"bf16", "f32"},
                                   {"f32", "bf16"},
                                   {"u8", "f32"},
                                   {"s8", "f32"},
                                   {"f32", "s32"},
                                   {"s16", "u8"},
                                   {"s16", "s8"},
                                   {"s32", "u8"},
                                   {"f32", "u8"},
                                   {"f32", "s8"},
                                   {"f32", "s7"},
                                   {"s32", "s8"},
                                   {"u8", "s32"},
                                   {"s8", "s32"}})
      add(to, from, lanes);
  ASSERT_NO_FATAL_FAILURE(compile(used, entries));
  Rng rng(kSeed);
  for (const int lanes : kLanes) {
    SCOPED_TRACE(fmt::format("{} lanes, seed {}", lanes, kSeed));
    const auto size = static_cast<std::size_t>(lanes);
    const auto cast = [&](const char* types) { return entry<Cast>(fmt::format("{}x{}", types, lanes)); };
    for (int repeat = 0; repeat < 5000; ++repeat) {
      const std::vector<std::uint32_t> bits = drawn<std::uint32_t>(rng, size);
      std::vector<std::uint16_t> shorter(size);
      cast("bf16_from_f32")(shorter.data(), bits.data());
      std::vector<std::uint32_t> longer(size);
      cast("f32_from_bf16")(longer.data(), shorter.data());
      std::vector<float> whole(size);
      for (float& value : whole) value = static_cast<float>(rng.below(256));
      std::vector<std::uint8_t> bytes(size);
      cast("u8_from_f32")(bytes.data(), whole.data());
      std::vector<std::int16_t> wide(size);
      cast("s16_from_s8")(wide.data(), bytes.data());
      const auto check_words = [&]<typename Word, typename Byte>(const char* types, Word, Byte) {
        std::vector<Word> words(size);
        cast(types)(words.data(), bytes.data());
        for (std::size_t i = 0; i < size; ++i)
          ASSERT_EQ(words[i], static_cast<Word>(static_cast<Byte>(bytes[i]))) << types;
      };
      check_words("f32_from_u8", float{}, std::uint8_t{});
      check_words("f32_from_s8", float{}, std::int8_t{});
      check_words("f32_from_s7", float{}, std::int8_t{});
      check_words("s32_from_u8", std::int32_t{}, std::uint8_t{});
      check_words("s32_from_s8", std::int32_t{}, std::int8_t{});
      for (const char* types : {"u8_from_s32", "s8_from_s32"}) {
        std::vector<std::int32_t> words(size);
        for (std::size_t i = 0; i < size; ++i)
          words[i] = types[0] == 'u' ? bytes[i] : static_cast<std::int8_t>(bytes[i]);
        std::vector<std::uint8_t> again(size);
        cast(types)(again.data(), words.data());
        ASSERT_EQ(again, bytes) << types;
      }
      for (std::size_t i = 0; i < size; ++i) {
        const auto value = std::bit_cast<float>(bits[i]);
        ASSERT_EQ(shorter[i], to_bf16(flushed(value))) << value;
        ASSERT_EQ(longer[i], std::uint32_t{shorter[i]} << 16);
        ASSERT_EQ(bytes[i], static_cast<std::uint8_t>(whole[i]));
        ASSERT_EQ(wide[i], static_cast<std::int8_t>(bytes[i]));
      }
    }
  }
}

struct GroupsCase {
  const char* types;
  int from_size, to_size, group;
  /// Returns the bits that an element has after the move.
  std::uint32_t (*moved)(std::uint32_t bits);
};
constexpr GroupsCase kGroups[] = {
    {"bf16_bf16", 2, 2, 2, [](std::uint32_t x) { return x; }},
    {"bf16_f32", 2, 4, 2, [](std::uint32_t x) { return x << 16; }},
    {"u8_u8", 1, 1, 4, [](std::uint32_t x) { return x; }},
    {"s8_u8", 1, 1, 4, [](std::uint32_t x) { return x ^ 128; }},
    {"s8_s8", 1, 1, 4, [](std::uint32_t x) { return x; }},
    {"s7_s7", 1, 1, 4, [](std::uint32_t x) { return x; }},
    {"u8_s16", 1, 2, 2, [](std::uint32_t x) { return x; }},
    {"s8_s16", 1, 2, 2, [](std::uint32_t x) { return ((x ^ 128) - 128) & 0xffff; }},
};

TEST_P(NarrowText, GroupsAreOfNeighboursAndFilledWithZeros) {
  SnippetSet used;
  std::string entries;
  for (const GroupsCase& each : kGroups) {
    const std::string name = fmt::format("groups_{}", each.types);
    const std::string types = each.types, from = types.substr(0, types.find('_'));
    used.insert(name);
    entries += fmt::format(
        "extern \"C\" void {0}(void* to, const void* from, long count, long from_step, long line_step, long "
        "lines, "
        "long to_step) {{\n  lehr_{0}((decltype(lehr_{0}_one(0))*)to, ({1}*)from, count, from_step, "
        "line_step, lines, "
        "to_step);\n}}\n",
        name,
        from == "bf16" ? "const unsigned short"
        : from == "u8" ? "const unsigned char"
                       : "const signed char");
  }
  ASSERT_NO_FATAL_FAILURE(compile(used, entries));
  Rng rng(kSeed);
  for (const GroupsCase& each : kGroups) {
    const auto groups = entry<Groups>(fmt::format("groups_{}", each.types));
    for (int repeat = 0; repeat < 300; ++repeat) {
      const bool by_lines = rng.below(2) == 0;
      const long count = static_cast<long>(rng.below(50)), lines = static_cast<long>(rng.below(6));
      const long from_step = by_lines ? 1 : 7, line_step = by_lines ? count + 3 : 1;
      const long to_step = rng.below(2) == 0 ? each.group : each.group + 5;
      SCOPED_TRACE(fmt::format("{} {} groups of {} lines, step {}, seed {}", each.types, count, lines,
                               to_step, kSeed));
      const long elements = count * from_step + std::max(lines, 1L) * line_step + 1;
      const auto bytes = drawn<std::uint8_t>(rng, static_cast<std::size_t>(elements * each.from_size));
      std::vector<std::uint8_t> got(static_cast<std::size_t>((count * to_step + 1) * each.to_size), 0xee);
      const std::vector<std::uint8_t> before = got;
      groups(got.data(), bytes.data(), count, from_step, line_step, lines, to_step);
      for (long at = 0; at < count * to_step; ++at) {
        const long i = at / to_step, e = at % to_step;
        std::uint32_t from = 0, expected = 0, to = 0;
        std::memcpy(&to, got.data() + at * each.to_size, static_cast<std::size_t>(each.to_size));
        if (e >= each.group) {
          std::memcpy(&expected, before.data(), static_cast<std::size_t>(each.to_size));
        } else if (e < lines) {
          std::memcpy(&from, bytes.data() + (i * from_step + e * line_step) * each.from_size,
                      static_cast<std::size_t>(each.from_size));
          expected = each.moved(from);
        }
        ASSERT_EQ(to, expected) << "group " << i << " element " << e;
      }
    }
  }
}

// Leading lanes move by the masks of bytes and words where the processor has them, else in a loop.
TEST_P(NarrowText, LeadingLanesAreMovedAndNoOthers) {
  struct Case {
    std::string vector, element;
    long lanes, size;
  };
  const std::vector<Case> cases = {
      {"u8x4", "unsigned char", 4, 1},      {"u8x16", "unsigned char", 16, 1},
      {"s8x32", "signed char", 32, 1},      {"bf16x8", "unsigned short", 8, 2},
      {"bf16x16", "unsigned short", 16, 2}, {"bf16x32", "unsigned short", 32, 2}};
  SnippetSet used;
  std::string entries;
  for (const Case& each : cases) {
    used.insert("masked_" + each.vector);
    entries += fmt::format(
        "extern \"C\" void move_{0}({1}* all, {1}* some, const {1}* from, long n) {{\n"
        "  *({0}_u*)all = lehr_load_{0}_n(from, n);\n  lehr_store_{0}_n(some, *({0}_u*)all, n);\n}}\n",
        each.vector, each.element);
  }
  ASSERT_NO_FATAL_FAILURE(compile(used, entries));
  Rng rng(kSeed);
  for (const Case& each : cases) {
    const auto move = entry<void (*)(void*, void*, const void*, long)>("move_" + each.vector);
    for (long n = -2; n <= each.lanes + 2; ++n) {
      SCOPED_TRACE(fmt::format("{} of {}", n, each.vector));
      const auto moved = static_cast<std::size_t>(std::clamp(n, 0L, each.lanes) * each.size);
      std::vector<std::uint8_t> all(static_cast<std::size_t>(each.lanes * each.size)), some(all.size(), 0xee);
      testing::Guarded from(moved);
      const auto bytes = drawn<std::uint8_t>(rng, moved);
      std::copy(bytes.begin(), bytes.end(), from.data());
      ASSERT_TRUE(testing::touches_nothing_else([&] { move(all.data(), some.data(), from.data(), n); }));
      for (std::size_t at = 0; at < all.size(); ++at) {
        ASSERT_EQ(all[at], at < moved ? bytes[at] : 0);
        ASSERT_EQ(some[at], at < moved ? bytes[at] : 0xee);
      }
    }
  }
}

// `other` stands for the lines that do not exist. No more is read of either than there is.
TEST_P(NarrowText, FourLinesAreMultipliedSideBySide) {
  ASSERT_NO_FATAL_FAILURE(compile({"quads_u8", "dots_u8_s8x16"}, R"(
    extern "C" void multiply(int* c, const unsigned char* from, const unsigned char* other, const signed char* b,
                             long step, long first, long end, long count) {
      u8x64 lines;
      lehr_quads_u8(&lines, from, other, step, first, end, count);
      *(s32x16_u*)c = lehr_dots_u8_s8x16(*(s32x16_u*)c, lines, *(const s8x64_u*)b);
    })"));
  const auto multiply =
      entry<void (*)(int*, const void*, const void*, const void*, long, long, long, long)>("multiply");
  Rng rng(kSeed);
  for (int repeat = 0; repeat < 500; ++repeat) {
    const long count = 1 + static_cast<long>(rng.below(16)), step = 20;
    const long first = static_cast<long>(rng.below(7)) - 2, end = static_cast<long>(rng.below(7)) - 1;
    const auto bytes = drawn<std::uint8_t>(rng, 80);
    const auto b = drawn<std::int8_t>(rng, 64);
    testing::Guarded from(static_cast<std::size_t>(3 * step + count)), other(static_cast<std::size_t>(count));
    std::copy_n(bytes.begin(), from.size(), from.data());
    std::copy_n(bytes.rbegin(), other.size(), other.data());
    int sums[16] = {}, expected[16] = {};
    for (long i = 0; i < count; ++i)
      for (long e = 0; e < 4; ++e)
        expected[i] += (first <= e && e < end ? from.data()[e * step + i] : other.data()[i]) *
                       b[static_cast<std::size_t>(4 * i + e)];
    multiply(sums, from.data(), other.data(), b.data(), step, first, end, count);
    ASSERT_TRUE(std::equal(sums, sums + 16, expected)) << first << " " << end << " " << count;
  }
}

TEST_P(NarrowText, ARoundedProductIsNotFused) {
  std::string entries;
  SnippetSet used;
  for (const int lanes : kLanes) {
    used.insert(fmt::format("unary_rounded{}", lanes));
    entries += fmt::format(
        "extern \"C\" void rounded{0}(float* c, const float* a, const float* b) {{\n"
        "  *(f32x{0}_u*)c = lehr_rounded(*(const f32x{0}_u*)a * *(const f32x{0}_u*)b) + "
        "*(f32x{0}_u*)c;\n}}\n",
        lanes);
  }
  ASSERT_NO_FATAL_FAILURE(compile(used, entries));
  Rng rng(kSeed);
  const auto number = [&] { return static_cast<float>(rng.below(1 << 24)) * 0x1p-24f; };
  for (const int lanes : kLanes) {
    const auto fused = entry<void (*)(float*, const float*, const float*)>(fmt::format("rounded{}", lanes));
    for (int repeat = 0; repeat < 1000; ++repeat) {
      float a[16], b[16], c[16], got[16];
      for (int i = 0; i < lanes; ++i) {
        a[i] = number();
        b[i] = number();
        c[i] = got[i] = -number();
      }
      fused(got, a, b);
      for (int i = 0; i < lanes; ++i) {
        const auto product = static_cast<float>(static_cast<double>(a[i]) * b[i]);
        ASSERT_EQ(got[i], static_cast<float>(static_cast<double>(product) + c[i])) << "seed " << kSeed;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Processors, NarrowText, ::testing::Values("-march=native", "-mavx2 -mfma", ""));

}  // namespace
}  // namespace lehr
