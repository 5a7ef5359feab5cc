// Environment variables of the vendor libraries.
#include "measure/worker/baselines.h"

#include <fmt/core.h>

namespace lehr {

std::vector<BaselineVariant> baseline_variants(std::string_view name, std::string_view arch, int threads) {
  // A binding set for our own process would put all of the library's threads on one core.
  const std::vector<std::string> common = {fmt::format("OPENBLAS_NUM_THREADS={}", threads),
                                           fmt::format("OMP_NUM_THREADS={}", threads), "OMP_PROC_BIND=false",
                                           "OMP_DYNAMIC=false"};
  std::vector<BaselineVariant> variants = {{"", common}};
  if (name != "openblas") return variants;
  std::vector<std::string> core_types;
  if (arch == "avx512") core_types = {"SkylakeX", "Cooperlake"};
  if (arch == "avx2") core_types = {"Haswell", "Zen"};
  for (const std::string& core_type : core_types) {
    BaselineVariant variant = {"OPENBLAS_CORETYPE=" + core_type, common};
    variant.environment.push_back(variant.note);
    variants.push_back(std::move(variant));
  }
  return variants;
}

}  // namespace lehr
