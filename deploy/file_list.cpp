#include "deploy/file_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/hash.h"

namespace lehr {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kFormat = "lehr-files";

constexpr const char* kPythonModule = "python/lehr_bundle.py";

/// What pip and Python leave beside the module of a bundle.
bool is_left_by_python(const std::string& name) {
  return name == "__pycache__" || name == "build" || name.ends_with(".egg-info");
}

class Others {
 public:
  Others(const fs::path& folder, const FileList& ours) : folder_(folder), ours_(ours) {
    for (const auto& [path, hash] : ours)
      for (fs::path above = fs::path(path).parent_path(); !above.empty(); above = above.parent_path())
        folders_.insert(above.string());
  }

  /// Those below a folder of ours; "" is the whole.
  void find(const std::string& below, std::vector<std::string>& found) const {
    std::error_code error;
    for (fs::directory_iterator entry(folder_ / below, error), end; !error && entry != end;
         entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      const std::string path = below.empty() ? name : fmt::format("{}/{}", below, name);
      if (!entry->is_symlink() && entry->is_directory()) {
        if (folders_.contains(path))
          find(path, found);
        else if (below != "python" || !ours_.contains(kPythonModule) || !is_left_by_python(name))
          found.push_back(path + "/");
      } else if (path != kFileList || !is_file(*entry)) {
        const auto listed = ours_.find(path);
        if (listed == ours_.end())
          found.push_back(path);
        else if (!is_file(*entry) || (listed->second && content_hash(entry->path()) != listed->second))
          found.push_back(path + " (changed)");
      }
    }
    if (error) throw_environment("{} cannot be read: {}", (folder_ / below).string(), error.message());
  }

 private:
  static bool is_file(const fs::directory_entry& entry) {
    return !entry.is_symlink() && entry.is_regular_file();
  }

  const fs::path& folder_;
  const FileList& ours_;
  std::set<std::string> folders_;
};

}  // namespace

std::string content_hash(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string block(std::size_t{1} << 20, '\0');
  std::array<std::uint64_t, 4> lanes = {1, 2, 3, 4};
  std::uint64_t bytes = 0;
  while (file.read(block.data(), static_cast<std::streamsize>(block.size())) || file.gcount() > 0) {
    const auto count = static_cast<std::size_t>(file.gcount());
    std::fill(block.begin() + static_cast<std::ptrdiff_t>(count), block.end(), '\0');
    // As XXH64 takes words: https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md.
    for (std::size_t at = 0; at < count; at += sizeof lanes)
      for (std::size_t i = 0; i < lanes.size(); ++i) {
        std::uint64_t word = 0;
        std::memcpy(&word, block.data() + at + i * sizeof word, sizeof word);
        lanes[i] = std::rotl(lanes[i] + word * 0xC2B2AE3D27D4EB4Fu, 31) * 0x9E3779B185EBCA87u;
      }
    bytes += count;
  }
  if (!file.eof()) return "";
  for (const std::uint64_t lane : lanes) bytes = hash_combine(bytes, lane);
  return to_hex(bytes);
}

std::string list_text(const FileList& files) {
  json hashes = json::object();
  for (const auto& [path, hash] : files) hashes[path] = hash.value_or("");
  return json{{"format", kFormat}, {"files", std::move(hashes)}}.dump(1, ' ', false,
                                                                      json::error_handler_t::replace) +
         "\n";
}

std::optional<FileList> list_of(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_regular_file(folder / kFileList, error)) return std::nullopt;
  std::ifstream file(folder / kFileList);
  const json document = json::parse(file, nullptr, false);
  if (!document.is_object() || document.value("format", json()) != kFormat) return std::nullopt;
  FileList list;
  const json hashes = document.value("files", json());
  for (const auto& [path, hash] : hashes.items()) {
    if (!hash.is_string()) return std::nullopt;
    list[path] = hash.get<std::string>();
  }
  return list;
}

std::vector<std::string> others_in(const fs::path& folder, const FileList& ours) {
  std::vector<std::string> found;
  Others(folder, ours).find("", found);
  std::ranges::sort(found);
  return found;
}

}  // namespace lehr
