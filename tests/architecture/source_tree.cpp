#include "tests/architecture/source_tree.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "tests/architecture/rules.h"

namespace lehr::test {
namespace {

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? "" : text.substr(first);
}

// Parses `#include "x"` or `#include <x>`, at the beginning of a line as a preprocessor wants it.
bool parse_include(std::string_view line, Include& include) {
  line = trim(line);
  if (!line.starts_with('#')) return false;
  line = trim(line.substr(1));
  if (!line.starts_with("include")) return false;
  line = trim(line.substr(7));
  if (line.empty() || (line[0] != '"' && line[0] != '<')) return false;
  include.quoted = line[0] == '"';
  const std::size_t end = line.find(include.quoted ? '"' : '>', 1);
  if (end == std::string_view::npos) return false;
  include.path = std::string(line.substr(1, end - 1));
  return true;
}

}  // namespace

SourceFile parse_source(const std::string& path, const std::string& text) {
  SourceFile file;
  file.path = path;
  file.folder = path.substr(0, path.find('/'));
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    Include include;
    if (parse_include(line, include)) {
      include.line = static_cast<int>(file.lines.size()) + 1;
      file.includes.push_back(include);
    }
    file.lines.push_back(std::move(line));
  }
  return file;
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::vector<SourceFile> read_source_tree(const std::filesystem::path& root) {
  static const std::set<std::string> kEndings = {".h", ".hpp", ".c", ".cc", ".cpp", ".cu", ".cuh", ".inc"};
  std::vector<SourceFile> files;
  for (const std::string& folder : all_folders()) {
    if (!std::filesystem::exists(root / folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      if (!entry.is_regular_file() || !kEndings.contains(entry.path().extension().string())) continue;
      const std::string path = entry.path().lexically_relative(root).generic_string();
      files.push_back(parse_source(path, read_text(entry.path())));
    }
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return files;
}

}  // namespace lehr::test
