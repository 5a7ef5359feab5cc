// BLIS's cblas_sgemm, loaded at run time. Its number of threads is set through its own API, which is the same
// in versions 0.9 to 1.1.
#include "measure/vendor/blis/baseline_blis.h"

#include "base/error.h"
#include "measure/vendor/baseline_sgemm.h"

namespace lehr::blis {
namespace {

struct Functions : LibraryFunctions {
  Function<const char*()> version{this, "bli_info_get_version_str"};
  Function<int()> arch{this, "bli_arch_query_id"};
  Function<const char*(int)> name_of_arch{this, "bli_arch_string"};
  Function<void(std::int64_t)> set_threads{this, "bli_thread_set_num_threads"};
};

/// Loads the library. Throws Error(kEnvironment) if it is missing, or it lacks a function.
SharedLibrary open_library(Functions& functions) {
  const std::vector<std::string> names = {"libblis.so.4", "libblis.so"};
  SharedLibrary library = load_library(names);
  if (!library) throw_environment("libblis.so.4 is not installed (Debian: apt-get install libblis4-pthread)");
  if (const std::string_view missing = functions.find(library.handle); !missing.empty())
    throw_environment("{} has no {}", library.path, missing);
  return library;
}

/// Returns "BLIS 0.9.0 with kernels for zen3". BLIS chooses its kernels by the CPU's model, and generic
/// kernels for a model that it does not know.
std::string text_of(const Functions& functions) {
  return fmt::format("BLIS {} with kernels for {}", functions.version(),
                     functions.name_of_arch(functions.arch()));
}

Sgemm open_sgemm(int threads) {
  Functions functions;
  const SharedLibrary library = open_library(functions);
  SgemmFunction sgemm = cblas_sgemm_of(library);
  if (!sgemm) throw_environment("{} has no cblas_sgemm: it was built without CBLAS", library.path);
  functions.set_threads(threads);
  return {std::move(sgemm), text_of(functions)};
}

std::string describe(const std::vector<std::string>&) {
  Functions functions;
  open_library(functions);
  return text_of(functions) + ": it takes part in the finals that ask for it (--baseline blis)";
}

constexpr Baseline kBaselines[] = {
    {"blis", []() -> std::unique_ptr<Runner> { return std::make_unique<SgemmRunner>("blis", &open_sgemm); },
     [](const Workload& workload, const RunSettings& settings) { require_sgemm("blis", workload, settings); },
     kSgemmReads}};

}  // namespace

constinit const VendorLibrary kLibrary = {.name = "blis",
                                          .target = Target::kCpu,
                                          .only = "gemm",
                                          .by_default = false,
                                          .baselines = kBaselines,
                                          .variants = &with_openmp,
                                          .describe = &describe};

}  // namespace lehr::blis
