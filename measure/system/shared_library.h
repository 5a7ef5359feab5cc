// Loads libraries at run time, and finds their functions by name.
#pragma once

#include <dlfcn.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lehr {

/// A loaded library. Its destructor does not close it, because vendors' libraries keep threads and kernels
/// that outlive the values here. To close it, pass `handle` to dlclose.
struct SharedLibrary {
  void* handle = nullptr;  ///< result of dlopen; nullptr: no library was found
  std::string path;        ///< path of the library, or the last path that was tried
  explicit operator bool() const { return handle != nullptr; }
};

/// Loads the first of `paths` (files, or names for the loader to look up) that can be loaded. Its symbols
/// stay local.
SharedLibrary load_library(std::span<const std::string> paths);

/// Releases an object of a library with the library's function.
struct LibraryRelease {
  int (*function)(void*) = nullptr;
  void operator()(void* handle) const { function(handle); }
};
using LibraryHandle = std::unique_ptr<void, LibraryRelease>;

/// Returns the function `name`; nullptr if the library does not have it.
template <typename Signature>
Signature* function_of(void* library, const char* name) {
  return reinterpret_cast<Signature*>(dlsym(library, name));
}

/// The functions of a library, each declared once, with its prototype and its name:
///   struct Functions : LibraryFunctions {
///     Function<int(void**)> create{this, "cublasLtCreate"};
///   };
class LibraryFunctions {
 public:
  LibraryFunctions() = default;
  LibraryFunctions(const LibraryFunctions&) = delete;
  LibraryFunctions& operator=(const LibraryFunctions&) = delete;

  /// Sets all functions; each is searched by `prefix` followed by its name. Returns the first name that the
  /// library lacks, without the prefix; "" if the library has all.
  std::string_view find(void* library, const std::string& prefix = {});

 protected:
  /// A function of the library. It is called like any other function.
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
