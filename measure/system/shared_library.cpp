#include "measure/system/shared_library.h"

namespace lehr {

SharedLibrary load_library(std::span<const std::string> paths) {
  SharedLibrary library;
  for (const std::string& path : paths) {
    library = {dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL), path};
    if (library) break;
  }
  return library;
}

std::string_view LibraryFunctions::find(void* library, const std::string& prefix) {
  std::string_view missing;
  for (const auto& [name, address] : wanted_) {
    *address = dlsym(library, (prefix + name).c_str());
    if (*address == nullptr && missing.empty()) missing = name;
  }
  return missing;
}

}  // namespace lehr
