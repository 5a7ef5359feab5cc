// cblas_sgemm, loaded at run time, and the core types that the library can be set to.
#include "measure/vendor/openblas/baseline_openblas.h"

#include <fmt/core.h>

#include "base/error.h"
#include "measure/system/shared_library.h"
#include "measure/vendor/baseline_sgemm.h"

namespace lehr::openblas {
namespace {

SharedLibrary load() {
  const std::vector<std::string> names = {"libopenblas.so.0", "libopenblas.so"};
  return load_library(names);
}

Sgemm open(int) {
  const SharedLibrary library = load();
  if (!library) {
    throw_environment("libopenblas.so.0 is not installed (Debian: apt-get install libopenblas0-pthread)");
  }
  const SgemmFunction sgemm = cblas_sgemm_of(library);
  if (!sgemm) throw_environment("libopenblas.so.0 has no cblas_sgemm: it was built without CBLAS");
  return {sgemm};
}

/// Returns core types to try. OpenBLAS chooses its kernels by CPU model. On CPUs that Debian's build does not
/// know, it uses kernels for Haswell, which are half as fast. So a fair baseline is the fastest core type
/// that the CPU's instruction set can run.
std::vector<BaselineVariant> variants(std::string_view arch, int threads) {
  std::vector<BaselineVariant> result = with_openmp(arch, threads);
  result[0].environment.push_back(fmt::format("OPENBLAS_NUM_THREADS={}", threads));
  std::vector<std::string> core_types;
  if (arch == "avx512") core_types = {"SkylakeX", "Cooperlake"};
  if (arch == "avx2") core_types = {"Haswell", "Zen"};
  for (const std::string& core_type : core_types) {
    BaselineVariant& variant = result.emplace_back(result[0]);
    variant.note = "OPENBLAS_CORETYPE=" + core_type;
    variant.environment.push_back(variant.note);
  }
  return result;
}

std::string describe(const std::vector<std::string>&) {
  if (load()) return "found: it takes part in the finals";
  throw_environment("not found (libopenblas.so.0): install libopenblas0 to compare with it");
}

constexpr Baseline kBaselines[] = {
    {"openblas", []() -> std::unique_ptr<Runner> { return std::make_unique<SgemmRunner>("openblas", &open); },
     [](const Workload& workload, const RunSettings& settings) {
       require_sgemm("openblas", workload, settings);
     },
     kSgemmReads}};

}  // namespace

constinit const VendorLibrary kLibrary = {.name = "openblas",
                                          .target = Target::kCpu,
                                          .only = "gemm",
                                          .baselines = kBaselines,
                                          .variants = &variants,
                                          .describe = &describe};

}  // namespace lehr::openblas
