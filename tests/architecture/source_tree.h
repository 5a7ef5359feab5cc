// The project's source files as text, for the rules that are checked on them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lehr::test {

struct Include {
  int line = 0;      ///< counted from 1
  std::string path;  ///< as written, without quotes or brackets
  bool quoted = false;
};

struct SourceFile {
  std::string path;    ///< relative to the root, with '/'
  std::string folder;  ///< the path's first folder: "base", "tests", ...
  std::vector<std::string> lines;
  std::vector<Include> includes;
};

/// Returns a file made of `text`, for tests of the rules themselves.
SourceFile parse_source(const std::string& path, const std::string& text);
/// Reads all C and C++ sources and headers in the project's folders, sorted by path.
std::vector<SourceFile> read_source_tree(const std::filesystem::path& root);
/// Reads the whole text of a file; "" if it is not there.
std::string read_text(const std::filesystem::path& path);

}  // namespace lehr::test
