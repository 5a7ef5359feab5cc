// BLIS's cblas_sgemm, found at run time. Its number of threads is set through its own API, the same in versions 0.9 to 1.1.
#include "measure/vendor/blis/baseline_blis.h"

#include "base/error.h"
#include "measure/vendor/baseline_sgemm.h"

namespace lehr::blis {
namespace {

struct Blis {
  SharedLibrary library;
  std::string text;  ///< "BLIS 0.9.0 with kernels for zen3": by the CPU's model, generic ones where it knows none
  void (*set_threads)(std::int64_t) = nullptr;
};

/// Throws Error(kEnvironment) when there is none, or one that lacks a function.
Blis open_library() {
  const std::vector<std::string> names = {"libblis.so.4", "libblis.so"};
  Blis blis = {load_library(names), ""};
  if (!blis.library)
    throw_environment("libblis.so.4 is not installed (Debian: apt-get install libblis4-pthread)");
  const char* (*version)() = nullptr;
  int (*arch)() = nullptr;
  const char* (*name_of_arch)(int) = nullptr;
  FunctionFinder find(blis.library.handle);
  find("bli_info_get_version_str", version);
  find("bli_arch_query_id", arch);
  find("bli_arch_string", name_of_arch);
  find("bli_thread_set_num_threads", blis.set_threads);
  if (!find.missing().empty()) throw_environment("{} has no {}", blis.library.path, find.missing());
  blis.text = fmt::format("BLIS {} with kernels for {}", version(), name_of_arch(arch()));
  return blis;
}

Sgemm open_sgemm(int threads) {
  const Blis blis = open_library();
  SgemmFunction sgemm = cblas_sgemm_of(blis.library);
  if (!sgemm) throw_environment("{} has no cblas_sgemm: it was built without CBLAS", blis.library.path);
  blis.set_threads(threads);
  return {std::move(sgemm), blis.text};
}

std::string describe(const std::vector<std::string>&) {
  return open_library().text + ": it takes part in the finals that ask for it (--baseline blis)";
}

constexpr Baseline kBaselines[] = {
    {"blis",
     []() -> std::unique_ptr<Runner> { return std::make_unique<SgemmRunner>("blis", &open_sgemm); },
     [](const Workload& workload, const RunSettings& settings) {
       require_sgemm("blis", workload, settings);
     }}};

}  // namespace

constinit const VendorLibrary kLibrary = {.name = "blis",
                                          .target = Target::kCpu,
                                          .by_default = false,
                                          .baselines = kBaselines,
                                          .variants = &with_openmp,
                                          .describe = &describe};

}  // namespace lehr::blis
