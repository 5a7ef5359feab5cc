// Texts of workloads, right and wrong, for golden hashes.
#pragma once

#include <fmt/core.h>

#include <initializer_list>
#include <string>

#include "base/rng.h"

namespace lehr::testing {

/// Returns a text of one of the operators: many are valid, some have a wrong key, value or combination. It is
/// the same on every machine.
inline std::string random_text(Rng& rng) {
  const auto one_of = [&](std::initializer_list<const char*> words) {
    return *(words.begin() + rng.below(words.size()));
  };
  const auto size = [&] {
    return rng.below(60) == 0 ? std::string(one_of({"x", "0", "-3", "4+", "", "3000000000", "2+3+4"}))
                              : fmt::format("{}", 1 + rng.below(300));
  };
  const auto type = [&] {
    return rng.below(80) == 0
               ? one_of({"f33", "u32", "", "f32:row", "f32:col:x", "f32:diagonal"})
               : one_of({"f64", "f32", "f32", "f16", "bf16", "s32", "s8", "u8", "e4m3", "e5m2"});
  };
  const auto epilogue = [&] {
    return one_of({"none", "bias", "bias+relu", "gelu", "swiglu", "clamp(-1,6)", "maxpool(2)", "clamp(6,1)",
                   "relu7", "bias+bias", "scale_shift+residual+clamp(-1e+05,6)", "residual+geglu"});
  };
  const auto math = [&] { return one_of({"strict", "strict", "tf32", "3xtf32", "two_level", "fast"}); };
  const bool gemm = rng.below(2) == 0;
  std::string text = gemm ? "gemm" : "conv2d";
  const auto add = [&](const char* key, const std::string& value) {
    if (rng.below(40) == 0) return;
    text += fmt::format(" {}={}", rng.below(150) == 0 ? "kk" : key, value);
    if (rng.below(300) == 0) text += one_of({" ", "  q", " m="});
  };
  const auto some = [&](const char* key, const std::string& value) {
    if (rng.below(3) == 0) add(key, value);
  };
  if (gemm) {
    for (const char* key : {"k", "m", "n"}) add(key, size());
    some("batch", size());
    for (const char* key : {"c", "a", "b"}) {
      const std::string layout = one_of({"", ":row", ":column", ":col"});
      some(key, type() + layout);
    }
  } else {
    for (const char* key : {"h", "w", "c", "k"}) add(key, size());
    for (const char* key : {"s", "r"}) add(key, fmt::format("{}", 1 + rng.below(4)));
    some("n", size());
    some("stride", one_of({"1", "2", "2x1", "1x3", "0", "1x1x1", "ax1", ""}));
    some("dilation", one_of({"1", "2", "2x1", "1x3", "0", "-1"}));
    some("pad", one_of({"0", "1", "1x2", "0x1x0x1", "-1", "1x1x1", "1xb"}));
    some("groups", one_of({"1", "1", "2", "3", "0"}));
    some("layout", one_of({"nchw", "nhwc", "chwn"}));
    for (const char* key : {"x", "f", "y"}) some(key, type());
  }
  some("accum", type());
  some("epilogue", epilogue());
  some("math", math());
  return text;
}

}  // namespace lehr::testing
