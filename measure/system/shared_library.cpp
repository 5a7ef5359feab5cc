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

}  // namespace lehr
