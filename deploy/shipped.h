// Texts that every library's folder contains. CMake puts them into the program when Lehr is built.
#pragma once

#include <span>
#include <string_view>

namespace lehr {

struct ShippedFile {
  std::string_view path;  ///< path within the folder
  std::string_view text;
};

/// Returns all shipped files: the header, the runtime (one C++20 text that needs only libc), the file for
/// find_package(), and the Python module.
std::span<const ShippedFile> shipped_files();
/// Returns the text of a shipped file. CHECKs that the file exists.
std::string_view shipped_text(std::string_view path);

/// Returns the source of the plug-in for ONNX Runtime, which is not part of any library.
std::string_view shipped_plugin();
/// Returns the folder in which the compiled plug-in is if it was installed with the program, relative to the
/// parent of the program's folder.
std::string_view prebuilt_plugin_folder();

}  // namespace lehr
