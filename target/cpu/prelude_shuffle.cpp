// All are networks of two-vector shuffles, which GCC and clang spell differently. L vectors are transposed in
// log2(L) rounds. Each round interleaves vector i with vector i + L/2, which rotates the bits of an element's
// position (row, lane) by one.
#include "target/cpu/prelude_shuffle.h"

#include <fmt/core.h>

#include <string_view>

#include "base/text.h"
#include "target/cpu/prelude_narrow.h"

namespace lehr {
namespace {

constexpr std::string_view kTranspose = "transpose_", kTransposeS32 = "transpose_s32_",
                           kSplitPairs = "split_pairs_";

int lanes_of(std::string_view name) {
  for (const std::string_view stem : {kTransposeS32, kTranspose, kSplitPairs})
    if (name.starts_with(stem)) return static_cast<int>(parse_int(name.substr(stem.size())).value_or(0));
  return 0;
}

/// Returns a function whose lane i is lane `from(i)` of the 2 L lanes of a, then b.
template <typename From>
std::string shuffle(std::string_view function, int lanes, const From& from, std::string_view vector = "f32x",
                    std::string_view suffix = "") {
  std::string list;
  for (int i = 0; i < lanes; ++i) list += fmt::format("{}{}", i == 0 ? "" : ", ", from(i));
  return fmt::format(
      R"(#ifdef __clang__
static inline {4}{0} lehr_{1}{5}{0}({4}{0} a, {4}{0} b) {{ return __builtin_shufflevector(a, b, {2}); }}
#else
static inline {4}{0} lehr_{1}{5}{0}({4}{0} a, {4}{0} b) {{
  typedef int s32x{0} __attribute__((vector_size({3})));
  return __builtin_shuffle(a, b, s32x{0}{{{2}}});
}}
#endif
)",
      lanes, function, list, lanes * 4, vector, suffix);
}

/// Takes lanes of a and b alternately, from lane 0 or L/2 on.
std::string zips(int lanes, std::string_view vector, std::string_view suffix) {
  return shuffle(
             "zip_low", lanes, [=](int i) { return i / 2 + i % 2 * lanes; }, vector, suffix) +
         shuffle("zip_high", lanes, [=](int i) { return lanes / 2 + i / 2 + i % 2 * lanes; }, vector, suffix);
}
/// Takes every other lane.
std::string evens_and_odds(int lanes) {
  return shuffle("split_evens", lanes, [](int i) { return 2 * i; }) +
         shuffle("split_odds", lanes, [](int i) { return 2 * i + 1; });
}

/// Transposes floats, or 32-bit integers.
std::string transpose(int lanes, bool integers) {
  const std::string_view vector = integers ? "s32x" : "f32x", scalar = integers ? "int" : "float";
  const std::string_view suffix = integers ? "_s32_" : "", loads = integers ? "_s32x" : "";
  int rounds = 0;
  while (1 << rounds < lanes) ++rounds;
  return zips(lanes, vector, suffix) +
         fmt::format(
             R"(static inline void lehr_transpose{5}{0}({4}* to, const {4}* from, long to_stride, long from_stride,
                                     long rows, long columns) {{
  {3}{0} v[{0}], w[{0}];
#pragma GCC unroll {0}
  for (int i = 0; i < {0}; ++i)
    v[i] = i >= rows ? {3}{0}{{}}
           : columns < {0} ? lehr_load{6}{0}_n(from + i * from_stride, columns)
                          : *(const {3}{0}_u*)(from + i * from_stride);
#pragma GCC unroll {1}
  for (int round = 0; round < {1}; ++round) {{
#pragma GCC unroll {2}
    for (int i = 0; i < {2}; ++i) {{
      w[2 * i] = lehr_zip_low{7}{0}(v[i], v[i + {2}]);
      w[2 * i + 1] = lehr_zip_high{7}{0}(v[i], v[i + {2}]);
    }}
#pragma GCC unroll {0}
    for (int i = 0; i < {0}; ++i) v[i] = w[i];
  }}
#pragma GCC unroll {0}
  for (int j = 0; j < {0}; ++j)
    if (j < columns) *({3}{0}_u*)(to + j * to_stride) = v[j];
}}
)",
             lanes, rounds, lanes / 2, vector, scalar, integers ? "_s32_" : "_", loads, suffix);
}

std::string split_pairs(int lanes) {
  return evens_and_odds(lanes) +
         fmt::format(
             R"(static inline void lehr_split_pairs_{0}(void* evens, void* odds, const void* numbers, long count) {{
  float *even = (float*)evens, *odd = (float*)odds;
  const float* from = (const float*)numbers;
  if (count >= {1}) {{
    const f32x{0} a = *(const f32x{0}_u*)from, b = *(const f32x{0}_u*)(from + {0});
    *(f32x{0}_u*)even = lehr_split_evens{0}(a, b);
    *(f32x{0}_u*)odd = lehr_split_odds{0}(a, b);
  }} else if (count > 0) {{
    const f32x{0} a = lehr_load{0}_n(from, count);
    const f32x{0} b = count > {0} ? lehr_load{0}_n(from + {0}, count - {0}) : f32x{0}{{}};
    lehr_store{0}_n(even, lehr_split_evens{0}(a, b), (count + 1) / 2);
    lehr_store{0}_n(odd, lehr_split_odds{0}(a, b), count / 2);
  }}
}}
)",
             lanes, 2 * lanes);
}

}  // namespace

std::string shuffle_snippet(const std::string& name) {
  const int lanes = lanes_of(name);
  if (lanes == 0) return "";
  return name.starts_with(kTranspose) ? transpose(lanes, name.starts_with(kTransposeS32))
                                      : split_pairs(lanes);
}

std::vector<std::string> shuffle_snippets_needed_by(const std::string& name) {
  const int lanes = lanes_of(name);
  if (lanes == 0) return {};
  const DType type = name.starts_with(kTransposeS32) ? DType::kS32 : DType::kF32;
  return {snippet_for("masked", type, lanes), snippet_for("vector", type, lanes)};
}

}  // namespace lehr
