#include "measure/host/processor_features.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "runtime/cpu_features.h"

namespace lehr {

std::string_view macro_of(std::string_view feature) {
  for (std::size_t i = 0; i < runtime::cpu_feature_count(); ++i)
    if (runtime::cpu_feature(i).name == feature) return runtime::cpu_feature(i).macro;
  CHECK(false, "no processor feature is named {}", feature);
}

std::vector<std::string> features_of(std::span<const std::string> macros) {
  std::vector<std::string> features;
  for (std::size_t i = 0; i < runtime::cpu_feature_count(); ++i) {
    const runtime::CpuFeature& feature = runtime::cpu_feature(i);
    if (std::ranges::find(macros, feature.macro) != macros.end()) features.emplace_back(feature.name);
  }
  return features;
}

std::vector<std::string> feature_flags(std::span<const std::string> features) {
#if defined(__aarch64__)
  return {fmt::format("-march=armv8-a{}{}", features.empty() ? "" : "+", fmt::join(features, "+"))};
#else
  std::vector<std::string> flags = {"-march=x86-64"};
  for (const std::string& feature : features) flags.push_back("-m" + feature);
  return flags;
#endif
}

}  // namespace lehr
