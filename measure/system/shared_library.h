// Libraries that are loaded at run time and never linked, and their functions by name.
#pragma once

#include <dlfcn.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

/// What a library made, and the function of it that ends it.
struct LibraryRelease {
  int (*function)(void*) = nullptr;
  void operator()(void* handle) const { function(handle); }
};
using LibraryHandle = std::unique_ptr<void, LibraryRelease>;

/// nullptr where the library has no `name`.
template <typename Signature>
Signature* function_of(void* library, const char* name) {
  return reinterpret_cast<Signature*>(dlsym(library, name));
}

/// The functions of a library that are called, each declared once, with its prototype and its name:
///   struct Functions : LibraryFunctions {
///     Function<int(void**)> create{this, "cublasLtCreate"};
///   };
class LibraryFunctions {
 public:
  LibraryFunctions() = default;
  LibraryFunctions(const LibraryFunctions&) = delete;
  LibraryFunctions& operator=(const LibraryFunctions&) = delete;

  /// Fills all of them, each by its name behind `prefix`. The first name that the library lacks, without
  /// the prefix; "" where it lacks none.
  std::string_view find(void* library, const std::string& prefix = {});

 protected:
  /// Called like the function that it is.
  template <typename Signature>
  class Function {
   public:
    /// `name` is static text.
    Function(LibraryFunctions* all, const char* name) { all->wanted_.emplace_back(name, &address_); }
    Function(const Function&) = delete;
    Function& operator=(const Function&) = delete;
    operator Signature*() const { return reinterpret_cast<Signature*>(address_); }

   private:
    void* address_ = nullptr;
  };

 private:
  std::vector<std::pair<const char*, void**>> wanted_;
};

}  // namespace lehr
