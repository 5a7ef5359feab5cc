// All are networks of two-vector shuffles, which GCC and clang spell differently. L vectors are transposed
// by log2(L) rounds, in each of which vector i is interleaved with vector i + L/2: a round rotates the bits
// of an element's place (row, lane) by one.
#include "codegen/prelude_shuffle.h"

#include <fmt/format.h>

#include <string_view>

#include "base/text.h"

namespace lehr {
namespace {

constexpr std::string_view kTranspose = "transpose_", kSplitPairs = "split_pairs_";
constexpr std::string_view kApart2 = "deinterleave2_", kApart4 = "deinterleave4_";
constexpr std::string_view kTogether2 = "interleave2_", kTogether4 = "interleave4_";

int lanes_of(std::string_view name) {
  for (const std::string_view stem : {kTranspose, kSplitPairs, kApart2, kApart4, kTogether2, kTogether4})
    if (name.starts_with(stem)) return static_cast<int>(parse_int(name.substr(stem.size())).value_or(0));
  return 0;
}

/// A function whose lane i is lane `from(i)` of the 2 L that are those of a, then those of b.
template <typename From>
std::string shuffle(std::string_view function, int lanes, const From& from) {
  std::string list;
  for (int i = 0; i < lanes; ++i) list += fmt::format("{}{}", i == 0 ? "" : ", ", from(i));
  return fmt::format(
      R"(#ifdef __clang__
static inline f32x{0} lehr_{1}{0}(f32x{0} a, f32x{0} b) {{ return __builtin_shufflevector(a, b, {2}); }}
#else
static inline f32x{0} lehr_{1}{0}(f32x{0} a, f32x{0} b) {{
  typedef int s32x{0} __attribute__((vector_size({3})));
  return __builtin_shuffle(a, b, s32x{0}{{{2}}});
}}
#endif
)",
      lanes, function, list, lanes * 4);
}

/// Lane by lane one of a and one of b, from lane 0 or L/2 on.
/// `owner`: two functions of the prelude may stand in one text.
std::string zips(std::string_view owner, int lanes) {
  return shuffle(fmt::format("{}_low", owner), lanes, [=](int i) { return i / 2 + i % 2 * lanes; }) +
         shuffle(fmt::format("{}_high", owner), lanes,
                 [=](int i) { return lanes / 2 + i / 2 + i % 2 * lanes; });
}
/// Every other lane.
std::string evens_and_odds(std::string_view owner, int lanes) {
  return shuffle(fmt::format("{}_evens", owner), lanes, [](int i) { return 2 * i; }) +
         shuffle(fmt::format("{}_odds", owner), lanes, [](int i) { return 2 * i + 1; });
}

std::string transpose(int lanes) {
  int rounds = 0;
  while (1 << rounds < lanes) ++rounds;
  return zips("zip", lanes) +
         fmt::format(
             R"(static inline void lehr_transpose_{0}(float* to, const float* from, long to_stride, long from_stride,
                                     long rows, long columns) {{
  f32x{0} v[{0}], w[{0}];
#pragma GCC unroll {0}
  for (int i = 0; i < {0}; ++i)
    v[i] = i >= rows ? f32x{0}{{}}
           : columns < {0} ? lehr_load{0}_n(from + i * from_stride, columns)
                          : *(const f32x{0}_u*)(from + i * from_stride);
#pragma GCC unroll {1}
  for (int round = 0; round < {1}; ++round) {{
#pragma GCC unroll {2}
    for (int i = 0; i < {2}; ++i) {{
      w[2 * i] = lehr_zip_low{0}(v[i], v[i + {2}]);
      w[2 * i + 1] = lehr_zip_high{0}(v[i], v[i + {2}]);
    }}
#pragma GCC unroll {0}
    for (int i = 0; i < {0}; ++i) v[i] = w[i];
  }}
#pragma GCC unroll {0}
  for (int j = 0; j < {0}; ++j)
    if (j < columns) *(f32x{0}_u*)(to + j * to_stride) = v[j];
}}
)",
             lanes, rounds, lanes / 2);
}

std::string split_pairs(int lanes) {
  return evens_and_odds("split", lanes) +
         fmt::format(
             R"(static inline void lehr_split_pairs_{0}(float* even, float* odd, const float* from, long count) {{
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

std::string deinterleave2(int lanes) {
  return evens_and_odds("stream", lanes) +
         fmt::format(R"(static inline void lehr_deinterleave2_{0}(f32x{0}* to, const float* from) {{
  const f32x{0} a = *(const f32x{0}_u*)from, b = *(const f32x{0}_u*)(from + {0});
  to[0] = lehr_stream_evens{0}(a, b);
  to[1] = lehr_stream_odds{0}(a, b);
}}
)",
                     lanes);
}

// First the quarters of two neighbours, two of a kind in each vector, then the halves of those.
std::string deinterleave4(int lanes) {
  const int half = lanes / 2;
  const auto quarters = [=](int first) {
    return [=](int i) { return i < half ? first + 4 * i : first + 1 + 4 * (i - half); };
  };
  return shuffle("quarters01_", lanes, quarters(0)) + shuffle("quarters23_", lanes, quarters(2)) +
         shuffle("lows", lanes, [=](int i) { return i < half ? i : i + half; }) +
         shuffle("highs", lanes, [=](int i) { return i < half ? i + half : i + lanes; }) +
         fmt::format(R"(static inline void lehr_deinterleave4_{0}(f32x{0}* to, const float* from) {{
  const f32x{0} a = *(const f32x{0}_u*)from, b = *(const f32x{0}_u*)(from + {0});
  const f32x{0} c = *(const f32x{0}_u*)(from + 2 * {0}), d = *(const f32x{0}_u*)(from + 3 * {0});
  const f32x{0} ab01 = lehr_quarters01_{0}(a, b), ab23 = lehr_quarters23_{0}(a, b);
  const f32x{0} cd01 = lehr_quarters01_{0}(c, d), cd23 = lehr_quarters23_{0}(c, d);
  to[0] = lehr_lows{0}(ab01, cd01);
  to[1] = lehr_highs{0}(ab01, cd01);
  to[2] = lehr_lows{0}(ab23, cd23);
  to[3] = lehr_highs{0}(ab23, cd23);
}}
)",
                     lanes);
}

std::string interleave2(int lanes) {
  return zips("pair", lanes) +
         fmt::format(R"(static inline void lehr_interleave2_{0}(float* to, const f32x{0}* from) {{
  *(f32x{0}_u*)to = lehr_pair_low{0}(from[0], from[1]);
  *(f32x{0}_u*)(to + {0}) = lehr_pair_high{0}(from[0], from[1]);
}}
)",
                     lanes);
}

std::string interleave4(int lanes) {
  return zips("four", lanes) +
         fmt::format(R"(static inline void lehr_interleave4_{0}(float* to, const f32x{0}* from) {{
  const f32x{0} low02 = lehr_four_low{0}(from[0], from[2]), low13 = lehr_four_low{0}(from[1], from[3]);
  const f32x{0} high02 = lehr_four_high{0}(from[0], from[2]), high13 = lehr_four_high{0}(from[1], from[3]);
  *(f32x{0}_u*)to = lehr_four_low{0}(low02, low13);
  *(f32x{0}_u*)(to + {0}) = lehr_four_high{0}(low02, low13);
  *(f32x{0}_u*)(to + 2 * {0}) = lehr_four_low{0}(high02, high13);
  *(f32x{0}_u*)(to + 3 * {0}) = lehr_four_high{0}(high02, high13);
}}
)",
                     lanes);
}

}  // namespace

std::string shuffle_snippet(const std::string& name) {
  const int lanes = lanes_of(name);
  if (lanes == 0) return "";
  if (name.starts_with(kTranspose)) return transpose(lanes);
  if (name.starts_with(kSplitPairs)) return split_pairs(lanes);
  if (name.starts_with(kApart2)) return deinterleave2(lanes);
  if (name.starts_with(kApart4)) return deinterleave4(lanes);
  return name.starts_with(kTogether2) ? interleave2(lanes) : interleave4(lanes);
}

std::vector<std::string> shuffle_snippets_needed_by(const std::string& name) {
  const int lanes = lanes_of(name);
  if (lanes == 0) return {};
  return {fmt::format("masked{}", lanes), fmt::format("vector{}", lanes)};
}

}  // namespace lehr
