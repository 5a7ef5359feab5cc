#include "measure/vendor/bundle/cuda_bundle.h"

#include <vector>

#include "base/error.h"
#include "measure/vendor/vendor_library.h"

namespace lehr::bundle {

void CudaBundleRunner::prepare(const Problem& problem, const RunSettings& settings) {
  answer_ = {};
  harness_.prepare(problem, settings);
  kernels_options options = {};
  options.cuda = 1;  // use the context that the harness has made current
  options.cuda_device = settings.device;
  library_.emplace(settings.bundle);
  answer_ = library_->answer(workload_of(problem), options);
  library_->functions().set_stream(answer_.context.get(), harness_.stream().handle());
}

CudaHarness::Call CudaBundleRunner::call() const {
  return [this](std::int64_t set) -> std::optional<Fault> {
    std::vector<void*> arguments;
    for (std::size_t i = 0; i < harness_.tensors().count(); ++i)
      arguments.push_back(reinterpret_cast<void*>(harness_.tensors().address(i, set)));
    const ExportedFunctions& functions = library_->functions();
    kernels_context* const context = answer_.context.get();
    if (functions.call(context, answer_.function, arguments.data(), answer_.rows) == KERNELS_OK)
      return std::nullopt;
    return Fault{{FailureKind::kLaunch, functions.message(context), {}}, false};
  };
}

std::variant<Checked, Fault> CudaBundleRunner::check(int) {
  std::variant<Checked, Fault> result = harness_.check(call(), "the bundle");
  if (std::holds_alternative<Fault>(result)) return result;
  result = harness_.check(call(), "the bundle");
  if (auto* checked = std::get_if<Checked>(&result)) checked->note = answer_.row.kernel;
  return result;
}

std::variant<Samples, Fault> CudaBundleRunner::time(int, const SampleRequest& request) {
  return harness_.time(call(), request, "the bundle");
}

}  // namespace lehr::bundle
