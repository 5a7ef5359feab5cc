#include "deploy/onnxruntime_plugin.h"

#include <filesystem>
#include <string>
#include <system_error>

#include "deploy/applied_folder.h"
#include "deploy/runtime_library.h"
#include "deploy/shipped.h"

namespace lehr {

// The plug-in is never unloaded, since the libraries that it loads are never unloaded.
FolderFile onnxruntime_plugin(const std::string& program, const HostCompilerOptions& options) {
  std::error_code none;
  const auto prebuilt = std::filesystem::canonical(program, none).parent_path().parent_path() /
                        prebuilt_plugin_folder() / kPluginName;
  if (std::filesystem::exists(prebuilt, none)) return {kPluginName, read_bytes(prebuilt)};
  HostCompilerOptions never_unloaded = options;
  never_unloaded.extra_flags.push_back("-Wl,-z,nodelete");
  HostCompiler compiler(generic(never_unloaded, "-Wl,-soname,liblehr_onnxruntime.so"));
  return {kPluginName, compiled({{kPluginName, std::string(shipped_plugin())}}, compiler).at(kPluginName)};
}

}  // namespace lehr
