// Texts that go into every library's folder, as CMake found them when Lehr was built.
#pragma once

#include <span>
#include <string_view>

namespace lehr {

struct ShippedFile {
  std::string_view path;  ///< within the folder
  std::string_view text;
};

/// The header and the runtime (C++20, all in one; linked it needs libc alone), the file of find_package(),
/// the Python module.
std::span<const ShippedFile> shipped_files();
/// One of them. CHECKs that it is there.
std::string_view shipped_text(std::string_view path);

/// The plug-in for ONNX Runtime. It goes into no library.
std::string_view shipped_plugin();
/// Below the folder in which the program's own is: where the plug-in lies compiled, if it was installed with
/// it.
std::string_view prebuilt_plugin_folder();

}  // namespace lehr
