#include "deploy/library_kernels.h"

#include <fmt/format.h>

#include <set>

#include "base/error.h"

namespace lehr {

LibraryKernels::LibraryKernels(const std::string& path) : library_(path) {
  context(1);
}

kernels_context* LibraryKernels::context(std::uint32_t threads) const {
  ExportedLibrary::Context& context = contexts_[threads];
  std::string why_not;
  if (!context) context = library_.context(on_processor(threads), why_not);
  if (!context) throw_environment("the bundle does not run here: {}", why_not);
  return context.get();
}

std::vector<std::uint32_t> LibraryKernels::thread_counts(std::uint32_t most) const {
  std::set<std::uint32_t> counts;
  const ExportedFunctions& functions = library_.functions();
  for (std::uint32_t threads = 1; threads <= most; ++threads)
    for (std::uint32_t i = 0; i < functions.count(); ++i) {
      kernels_variant row = {};
      if (functions.describe(context(threads), functions.at(i), 0, &row) == KERNELS_OK)
        counts.insert(row.threads);
    }
  return {counts.begin(), counts.end()};
}

std::optional<LibraryKernel> LibraryKernels::exact(const Workload& workload, std::uint32_t threads,
                                                   std::string& reason) const {
  const ExportedFunctions& functions = library_.functions();
  kernels_context* const asked = context(threads);
  const kernels_function* const function = functions.find_kernel(asked, to_text(workload).c_str());
  if (function == nullptr) {
    reason = "the bundle has no kernel for it";
    return std::nullopt;
  }
  kernels_variant row = {};
  const std::uint64_t rows = function->most_rows > 0 ? static_cast<std::uint64_t>(rows_of(workload)) : 0;
  if (functions.describe(asked, function, rows, &row) != KERNELS_OK)
    throw_environment("the bundle: {}", functions.message(asked));
  if (row.threads == threads)
    return LibraryKernel{row.kernel, function->name, row.threads, row.time_us,
                         functions.pack_bytes(asked, function)};
  reason = fmt::format("its kernel is for {} thread{}", row.threads, row.threads == 1 ? "" : "s");
  return std::nullopt;
}

}  // namespace lehr
