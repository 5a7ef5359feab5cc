// Texts that go into every library's folder, as CMake found them when Lehr was built.
#pragma once

#include <span>
#include <string_view>

namespace lehr {

struct ShippedFile {
  std::string_view path;  ///< within the folder
  std::string_view text;
};

/// Returns the header and the runtime (C++20, in one text; it only needs libc when linked), the file for
/// find_package(), and the Python module.
std::span<const ShippedFile> shipped_files();
/// Returns one of them. CHECKs that it exists.
std::string_view shipped_text(std::string_view path);

/// Returns the plug-in for ONNX Runtime, which is not part of any library.
std::string_view shipped_plugin();
/// Returns the compiled plug-in's folder, relative to the folder above the program's own, if it was installed
/// with it.
std::string_view prebuilt_plugin_folder();

}  // namespace lehr
