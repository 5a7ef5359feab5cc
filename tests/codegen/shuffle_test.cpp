// Tests of the C++ text of transpositions, of pairs taken apart, of masked loads and stores and of sums. The
// system compiler compiles it for this processor, for AVX2 and for the plainest one. Every number of rows,
// columns and elements is right, and nothing beside them is touched.
#include <dlfcn.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "target/prelude.h"

namespace lehr {
namespace {

using Transpose = void (*)(float*, const float*, long, long, long, long);
using SplitPairs = void (*)(float*, float*, const float*, long);
using Move = void (*)(float*, const float*, long);
using Sum = float (*)(const float*);

constexpr float kUntouched = -1;

// Numbers the elements from 1 on.
std::vector<float> numbered(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i + 1);
  return values;
}

void expect_transposed(Transpose function, long lanes) {
  const long from_stride = lanes + 3, to_stride = lanes + 2;
  for (long rows = -1; rows <= lanes + 1; ++rows) {
    for (long columns = -1; columns <= lanes + 1; ++columns) {
      const long exist = std::clamp(rows, 0L, lanes), wide = std::clamp(columns, 0L, lanes);
      // The last row ends with the memory: to read on would be to read poison.
      std::vector<float> from = numbered(static_cast<std::size_t>(exist * from_stride + 1));
      std::vector<float> to(static_cast<std::size_t>(lanes * to_stride), kUntouched);
      function(to.data(), from.data(), to_stride, from_stride, rows, columns);
      for (long j = 0; j < lanes; ++j) {
        for (long i = 0; i < to_stride; ++i) {
          const bool written = j < wide && i < lanes;
          const float expected = !written   ? kUntouched
                                 : i < rows ? from[static_cast<std::size_t>(i * from_stride + j)]
                                            : 0;
          ASSERT_EQ(to[static_cast<std::size_t>(j * to_stride + i)], expected)
              << rows << " x " << columns << " at " << j << ", " << i;
        }
      }
    }
  }
}

void expect_split(SplitPairs function, long lanes) {
  for (long count = -1; count <= 2 * lanes + 1; ++count) {
    const long exist = std::clamp(count, 0L, 2 * lanes);
    const std::vector<float> from = numbered(static_cast<std::size_t>(exist + 1));
    std::vector<float> even(static_cast<std::size_t>(lanes + 1), kUntouched), odd = even;
    function(even.data(), odd.data(), from.data(), count);
    for (long i = 0; i <= lanes; ++i) {
      const auto at = static_cast<std::size_t>(i);
      ASSERT_EQ(even[at], i < lanes && 2 * i < exist ? from[2 * at] : kUntouched) << count << " at " << i;
      ASSERT_EQ(odd[at], i < lanes && 2 * i + 1 < exist ? from[2 * at + 1] : kUntouched)
          << count << " at " << i;
    }
  }
}

void expect_masked(Move load, Move store, long lanes) {
  for (long count = -1; count <= lanes + 1; ++count) {
    const long exist = std::clamp(count, 0L, lanes);
    const auto size = static_cast<std::size_t>(lanes);
    std::vector<float> loaded(size), stored(size + 1, kUntouched);
    load(loaded.data(), numbered(static_cast<std::size_t>(exist)).data(), count);
    store(stored.data(), numbered(size).data(), count);
    for (long i = 0; i <= lanes; ++i) {
      const float value = static_cast<float>(i + 1);
      if (i < lanes) {
        ASSERT_EQ(loaded[static_cast<std::size_t>(i)], i < exist ? value : 0) << count << " at " << i;
      }
      ASSERT_EQ(stored[static_cast<std::size_t>(i)], i < exist ? value : kUntouched) << count << " at " << i;
    }
  }
}

class ShuffleText : public ::testing::TestWithParam<const char*> {};

TEST_P(ShuffleText, MovesWhatExistsAndNothingElse) {
  if (std::string(GetParam()).starts_with("-mavx2") && !__builtin_cpu_supports("avx2"))
    GTEST_SKIP() << "this processor has no AVX2";
  SnippetSet used = {"base"};
  std::string entries;
  for (const int lanes : {4, 8, 16}) {
    used.insert(fmt::format("transpose_{}", lanes));
    used.insert(fmt::format("split_pairs_{}", lanes));
    used.insert(fmt::format("masked{}", lanes));
    used.insert(fmt::format("reduce{}", lanes));
    entries += fmt::format(
        "extern \"C\" void transpose{0}(float* t, const float* f, long ts, long fs, long r, long c) {{\n  "
        "lehr_transpose_{0}(t, f, ts, fs, r, c);\n}}\nextern \"C\" void split{0}(float* e, float* o, const "
        "float* f, long n) {{\n  lehr_split_pairs_{0}(e, o, f, n);\n}}\nextern \"C\" void load{0}(float* t, "
        "const float* f, long n) {{ *(f32x{0}_u*)t = lehr_load{0}_n(f, n); }}\nextern \"C\" void "
        "store{0}(float* t, const float* f, long n) {{ lehr_store{0}_n(t, *(f32x{0}_u*)f, n); }}\nextern "
        "\"C\" float sum{0}(const float* f) {{ return lehr_reduce{0}(*(f32x{0}_u*)f); }}\n",
        lanes);
  }
  char dir_name[] = "/tmp/lehr_shuffle_test_XXXXXX";
  const std::filesystem::path dir = ::mkdtemp(dir_name);
  std::ofstream(dir / "all.cpp") << prelude(Target::kCpu, used) << entries;
  const std::string object = (dir / "all.so").string();
  const std::string command = fmt::format("g++ -O2 {} -nostdlib -shared -fPIC -w -Wno-psabi -o {} {}",
                                          GetParam(), object, (dir / "all.cpp").string());
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  void* library = ::dlopen(object.c_str(), RTLD_NOW);
  ASSERT_NE(library, nullptr) << ::dlerror();
  for (const int lanes : {4, 8, 16}) {
    SCOPED_TRACE(lanes);
    expect_transposed(
        reinterpret_cast<Transpose>(::dlsym(library, fmt::format("transpose{}", lanes).c_str())), lanes);
    expect_split(reinterpret_cast<SplitPairs>(::dlsym(library, fmt::format("split{}", lanes).c_str())),
                 lanes);
    expect_masked(reinterpret_cast<Move>(::dlsym(library, fmt::format("load{}", lanes).c_str())),
                  reinterpret_cast<Move>(::dlsym(library, fmt::format("store{}", lanes).c_str())), lanes);
    const auto sum = reinterpret_cast<Sum>(::dlsym(library, fmt::format("sum{}", lanes).c_str()));
    EXPECT_EQ(sum(numbered(static_cast<std::size_t>(lanes)).data()),
              static_cast<float>(lanes * (lanes + 1) / 2));
  }
  ::dlclose(library);
  std::filesystem::remove_all(dir);
}

INSTANTIATE_TEST_SUITE_P(Processors, ShuffleText, ::testing::Values("-march=native", "-mavx2 -mfma", ""));

}  // namespace
}  // namespace lehr
