#include "deploy/folder_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "base/file_output.h"
#include "deploy/bundle_json.h"

namespace lehr {
namespace {

namespace fs = std::filesystem;

/// A folder that goes away with all that is in it, unless it has another name by then.
class Draft {
 public:
  explicit Draft(std::string path) : path_(std::move(path)) {
    if (mkdir(path_.c_str(), 0755) != 0)
      throw_environment("{} cannot be created: {}", path_, std::strerror(errno));
  }
  ~Draft() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void flush(const std::string& folder) {
  const int opened = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool flushed = opened >= 0 && fsync(opened) == 0;
  const int error = errno;
  if (opened >= 0) close(opened);
  if (!flushed) throw_environment("{} cannot be flushed to disk: {}", folder, std::strerror(error));
}

}  // namespace

std::string read_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  if (!file) throw_user("{} cannot be read", path.string());
  return bytes;
}

void write_folder(const std::string& given, std::span<const FolderFile> files,
                  bool (*is_ours)(const std::string& path)) {
  std::string path = given;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  struct stat about;
  const bool exists = lstat(path.c_str(), &about) == 0;
  if (exists && !(S_ISDIR(about.st_mode) && is_ours(path)))
    throw_user("{} is there already and is no bundle: name another folder, or remove it", path);
  const Draft draft(fmt::format("{}.{}.tmp", path, getpid()));
  for (const FolderFile& file : files) {
    const fs::path place = fs::path(draft.path()) / file.path;
    std::error_code error;
    fs::create_directories(place.parent_path(), error);
    if (error) throw_environment("{} cannot be created: {}", place.parent_path().string(), error.message());
    write_file(place.string(), file.bytes);
  }
  flush(draft.path());
  // An older one takes the draft's name, and goes away with it.
  const int renamed = exists
                          ? renameat2(AT_FDCWD, draft.path().c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE)
                          : rename(draft.path().c_str(), path.c_str());
  if (renamed != 0) throw_environment("{} cannot be replaced: {}", path, std::strerror(errno));
}

}  // namespace lehr
