#include "deploy/linked.h"

#include <fmt/format.h>

#include <map>
#include <string_view>

#include "measure/host/processor_features.h"
#include "runtime/sha256.h"

namespace lehr {
namespace {

// What no part of the text closes: the delimiter of a raw string has at most 16 characters.
std::string delimiter_for(const std::string& text) {
  runtime::Sha256 hash;
  hash.add(text.data(), text.size());
  return std::string(hash.hex().data()).substr(0, 16);
}

// Whether a linker takes the kernel; others are loaded.
bool is_function(const FolderKernel& kernel) {
  return kernel.rebuilt.source.target.has(Feature::kHostFunction);
}

// As a text of C++: three digits for each byte, so that none goes together with what follows.
std::string escaped(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("\\{:03o}", static_cast<unsigned char>(byte));
  return text;
}

}  // namespace

std::string linked_text(std::span<const FolderKernel> kernels, const std::string& manifest) {
  std::string declared, functions, arrays, files;
  std::size_t function_count = 0, file_count = 0;
  for (const FolderKernel& kernel : first_of_each_name(kernels)) {
    if (is_function(kernel)) {
      for (const std::string& name : deployed_functions(kernel.rebuilt.source, kernel.name)) {
        declared += fmt::format("void {}(void* const* params, void* scratch, long task);\n", name);
        functions += fmt::format("    {{\"{0}\", &{0}}},\n", name);
        ++function_count;
      }
      continue;
    }
    for (const FolderFile& file : libraries_of(std::span(&kernel, 1))) {
      arrays += fmt::format("const unsigned char file_{}[] = \"{}\";\n", file_count, escaped(file.bytes));
      files += fmt::format("    {{\"{}\", file_{}, {}}},\n", file.path, file_count, file.bytes.size());
      ++file_count;
    }
  }
  const std::string delimiter = delimiter_for(manifest);
  // An array has an element at least, which is not counted.
  return fmt::format(
      "// The bundle as a part of the program: lehr_open_linked(&lehr_linked_bundle, ...).\n"
      "#include \"lehr_bundle.h\"\n\n"
      "extern \"C\" {{\n{0}}}\n\n"
      "namespace {{\n"
      "const lehr_linked_function functions[] = {{\n{1}    {{nullptr, nullptr}},\n}};\n"
      "{2}const lehr_linked_file files[] = {{\n{3}    {{nullptr, nullptr, 0}},\n}};\n"
      "const char manifest[] = R\"{4}({5}){4}\";\n"
      "}}  // namespace\n\n"
      "const lehr_linked lehr_linked_bundle = {{sizeof(lehr_linked), {6}, functions, manifest,\n"
      "                                        sizeof manifest - 1, files, {7}}};\n",
      declared, functions, arrays, files, delimiter, manifest, function_count, file_count);
}

std::string linked_cmake(std::span<const FolderKernel> kernels, const std::vector<std::string>& flags) {
  std::string sources, options;
  std::map<std::vector<std::string>, std::string> by_features;
  for (const FolderKernel& kernel : first_of_each_name(kernels)) {
    if (!is_function(kernel)) continue;
    sources += fmt::format("\n  {}", source_path(kernel));
    by_features[kernel.features] += fmt::format("\n  {}", source_path(kernel));
  }
  for (const auto& [features, files] : by_features)
    options += fmt::format("set_source_files_properties({}\n  PROPERTIES COMPILE_OPTIONS \"{};{}\")\n", files,
                           fmt::join(flags, ";"), fmt::join(feature_flags(features), ";"));
  return fmt::format(
      "# add_subdirectory() of this folder gives lehr_bundle::linked: the kernels and the library that runs "
      "them, compiled "
      "from\n# their sources (C++20, GCC or clang; linked they need libc alone).\n"
      "cmake_minimum_required(VERSION 3.22)\n"
      "project(lehr_bundle CXX)\n"
      "find_package(Threads REQUIRED)\n"
      "set(kernels{0})\n"
      "{1}"
      "add_library(lehr_bundle_linked STATIC sources/lehr_bundle.cpp sources/lehr_linked.cpp ${{kernels}})\n"
      "target_compile_features(lehr_bundle_linked PRIVATE cxx_std_20)\n"
      "target_compile_options(lehr_bundle_linked PRIVATE -fno-exceptions -fno-rtti -fvisibility=hidden)\n"
      "set_target_properties(lehr_bundle_linked PROPERTIES POSITION_INDEPENDENT_CODE ON)\n"
      "target_include_directories(lehr_bundle_linked PUBLIC include)\n"
      "target_link_libraries(lehr_bundle_linked PUBLIC Threads::Threads ${{CMAKE_DL_LIBS}})\n"
      "add_library(lehr_bundle::linked ALIAS lehr_bundle_linked)\n",
      sources, options);
}

}  // namespace lehr
