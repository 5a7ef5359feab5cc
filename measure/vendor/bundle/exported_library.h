// Loads a library that `lehr export --out DIR` has written, as a product loads it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "measure/system/shared_library.h"
#include "runtime/kernels.h"
#include "workload/workload.h"

namespace lehr {

/// The functions of every library (runtime/kernels.h). Their names begin with the library's name.
struct ExportedFunctions : LibraryFunctions {
  Function<decltype(kernels_format)> format{this, "_format"};
  Function<decltype(kernels_interface)> interface{this, "_interface"};
  Function<decltype(kernels_create_for)> create_for{this, "_create_for"};
  Function<decltype(kernels_destroy)> destroy{this, "_destroy"};
  Function<decltype(kernels_message)> message{this, "_message"};
  Function<decltype(kernels_stream)> set_stream{this, "_stream"};
  Function<decltype(kernels_count)> count{this, "_count"};
  Function<decltype(kernels_at)> at{this, "_at"};
  Function<decltype(kernels_find)> find_kernel{this, "_find"};
  Function<decltype(kernels_describe)> describe{this, "_describe"};
  Function<decltype(kernels_call)> call{this, "_call"};
  Function<decltype(kernels_pack_bytes)> pack_bytes{this, "_pack_bytes"};
  Function<decltype(kernels_pack)> pack{this, "_pack"};
};

/// Returns options of a context that is only queried and runs nothing: no threads are started for it.
kernels_options on_processor(std::uint32_t threads);

struct ContextEnd {
  decltype(&kernels_destroy) destroy = nullptr;
  void operator()(kernels_context* context) const { destroy(context); }
};

/// A library. It stays loaded as long as the process lives.
class ExportedLibrary {
 public:
  using Context = std::unique_ptr<kernels_context, ContextEnd>;
  /// A library's answer for a workload: the context, its function, the number of rows of a call (0: the
  /// number is fixed), and the kernel that computes it.
  struct Answer {
    Context context;
    const kernels_function* function = nullptr;
    std::uint64_t rows = 0;
    kernels_variant row = {};
  };

  /// `path` is a folder with one lib*.so in it, or the lib*.so itself. Throws Error(kUser) if the file was
  /// not written by `lehr export`, or was written by another version; Error(kEnvironment) if it cannot be
  /// loaded.
  explicit ExportedLibrary(const std::string& path);

  const std::string& file() const { return file_; }
  /// Returns the prefix of its functions' names: "kernels" for libkernels.so.
  const std::string& name() const { return name_; }
  const ExportedFunctions& functions() const { return functions_; }
  /// Makes a context. If that fails, returns nullptr and sets `why_not` to a sentence.
  Context context(const kernels_options& options, std::string& why_not) const;
  /// Returns the answer of a new context with `options`. Throws Error(kEnvironment) if no such context can be
  /// made, Error(kNotFound) if the context has no kernel for the workload.
  Answer answer(const Workload& workload, const kernels_options& options) const;
  /// Throws Error(kEnvironment) with the context's sentence if `status` is not KERNELS_OK.
  void expect(kernels_status status, const Context& context) const;

 private:
  std::string file_, name_;
  ExportedFunctions functions_;
};

}  // namespace lehr
