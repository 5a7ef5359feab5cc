// What the C++ text of transpositions and of pairs taken apart does, compiled by the system compiler for this
// processor and for the plainest one: every number of rows, columns and elements, and nothing beside them.
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

#include "codegen/prelude.h"

namespace lehr {
namespace {

using Transpose = void (*)(float*, const float*, long, long, long, long);
using SplitPairs = void (*)(float*, float*, const float*, long);

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

class ShuffleText : public ::testing::TestWithParam<const char*> {};

TEST_P(ShuffleText, MovesWhatExistsAndNothingElse) {
  SnippetSet used = {"base"};
  std::string entries;
  for (const int lanes : {4, 8, 16}) {
    used.insert(fmt::format("transpose_{}", lanes));
    used.insert(fmt::format("split_pairs_{}", lanes));
    entries += fmt::format(
        "extern \"C\" void transpose{0}(float* t, const float* f, long ts, long fs, long r, long c) {{\n"
        "  lehr_transpose_{0}(t, f, ts, fs, r, c);\n}}\n"
        "extern \"C\" void split{0}(float* e, float* o, const float* f, long n) {{\n"
        "  lehr_split_pairs_{0}(e, o, f, n);\n}}\n",
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
  }
  ::dlclose(library);
  std::filesystem::remove_all(dir);
}

INSTANTIATE_TEST_SUITE_P(Processors, ShuffleText, ::testing::Values("-march=native", ""));

}  // namespace
}  // namespace lehr
