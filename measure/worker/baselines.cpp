#include "measure/worker/baselines.h"

#include "base/error.h"
#include "measure/vendor/blis/baseline_blis.h"
#include "measure/vendor/bundle/baseline_bundle.h"
#include "measure/vendor/cublaslt/baseline_cublaslt.h"
#include "measure/vendor/cudnn/baseline_cudnn.h"
#include "measure/vendor/onednn/baseline_onednn.h"
#include "measure/vendor/onnxruntime/baseline_onnxruntime.h"
#include "measure/vendor/openblas/baseline_openblas.h"

namespace lehr {
namespace {

constexpr const VendorLibrary* kVendorLibraries[] = {
    &openblas::kLibrary,    &onednn::kLibrary,   &blis::kLibrary,
    &onnxruntime::kLibrary, &cublaslt::kLibrary, &cudnn::kLibrary,
};

// Bundles are not libraries of the machine. They take part only if a user names their folder.
std::span<const VendorLibrary* const> bundles() {
  static constexpr const VendorLibrary* kBundles[] = {&bundle::kLibrary, &bundle::kCudaLibrary};
  return kBundles;
}

std::vector<std::string> names_of(Target target, bool all) {
  std::vector<std::string> names;
  for (const VendorLibrary* library : kVendorLibraries) {
    if (library->target != target || !(all || library->by_default)) continue;
    for (const Baseline& baseline : library->baselines) names.emplace_back(baseline.name);
  }
  return names;
}

}  // namespace

std::span<const VendorLibrary* const> vendor_libraries() {
  return kVendorLibraries;
}

std::vector<std::string> baseline_names(Target target) {
  return names_of(target, true);
}

std::vector<std::string> default_baselines(Target target) {
  return names_of(target, false);
}

std::string_view bundle_baseline(Target target) {
  for (const VendorLibrary* library : bundles())
    if (library->target == target) return library->baselines[0].name;
  CHECK(false, "no bundle runs on {}", target->title);
}

NamedBaseline find_baseline(std::string_view name) {
  for (const std::span<const VendorLibrary* const> libraries : {vendor_libraries(), bundles()})
    for (const VendorLibrary* library : libraries)
      for (const Baseline& baseline : library->baselines)
        if (baseline.name == name) return {library, &baseline};
  return {};
}

std::vector<std::string> with_calls_for(std::string_view problem, std::vector<std::string> names) {
  const std::string_view op = problem.substr(0, problem.find(' '));
  std::erase_if(names, [op](const std::string& name) {
    const VendorLibrary* const library = find_baseline(name).library;
    return library != nullptr && !library->only.empty() && library->only != op;
  });
  return names;
}

}  // namespace lehr
