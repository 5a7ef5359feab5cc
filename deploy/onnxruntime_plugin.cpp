#include "deploy/onnxruntime_plugin.h"

#include <string>

#include "deploy/runtime_library.h"
#include "deploy/shipped.h"

namespace lehr {

// The library's functions stay inside: a program may have another version of them. The plug-in is never
// unloaded, since the bundle that it opens is not.
FolderFile onnxruntime_plugin(const HostCompilerOptions& options) {
  constexpr const char* kName = "liblehr_onnxruntime.so";
  HostCompilerOptions never_unloaded = options;
  never_unloaded.extra_flags.push_back("-Wl,-z,nodelete");
  HostCompiler compiler(generic(never_unloaded, "-Wl,-soname,liblehr_onnxruntime.so"));
  const std::string text = "#define LEHR_API\n" + library_text() + std::string(shipped_plugin());
  return {kName, compiled({{kName, text}}, compiler).at(kName)};
}

}  // namespace lehr
