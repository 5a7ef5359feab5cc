// Libraries that are loaded at run time and never linked, and their functions by name.
#pragma once

#include <dlfcn.h>

#include <span>
#include <string>
#include <string_view>

namespace lehr {

/// A loaded library. Whoever wants it closed passes `handle` to dlclose: vendors' libraries keep threads and
/// kernels that outlive the values here, so they stay.
struct SharedLibrary {
  void* handle = nullptr;  ///< dlopen's; nullptr: none was found
  std::string path;        ///< the one that was found, or the last that was tried
  explicit operator bool() const { return handle != nullptr; }
};

/// The first of `paths` (files, or names for the loader to look up) that can be loaded. Its symbols stay
/// local.
SharedLibrary load_library(std::span<const std::string> paths);

/// Fills function pointers from a library, and remembers the first that is missing.
class FunctionFinder {
 public:
  explicit FunctionFinder(void* library) : library_(library) {}

  /// `function` becomes nullptr where the library has no `name` (static text).
  template <typename Function>
  void operator()(const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(library_, name));
    if (function == nullptr && missing_.empty()) missing_ = name;
  }
  /// The first missing name; "" when there was none.
  std::string_view missing() const { return missing_; }

 private:
  void* library_;
  std::string_view missing_;
};

}  // namespace lehr
