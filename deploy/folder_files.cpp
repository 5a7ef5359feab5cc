#include "deploy/folder_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "base/file_kind.h"

namespace lehr {
namespace {

namespace fs = std::filesystem;

/// A file descriptor.
class Opened {
 public:
  Opened(const fs::path& path, int flags) : number_(open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~Opened() {
    if (number_ >= 0) close(number_);
  }
  Opened(Opened&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Opened& operator=(Opened&&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

/// The mode of drafts, which no folder of a user has. A killed process leaves one.
constexpr mode_t kDraftMode = S_ISVTX | 0755;

bool is_draft(const struct stat& about) {
  return S_ISDIR(about.st_mode) && (about.st_mode & (S_ISVTX | S_IWGRP | S_IWOTH)) == S_ISVTX &&
         about.st_uid == geteuid();
}

/// Whether it is PREFIX, digits, ".tmp".
bool is_draft_name(std::string_view name, std::string_view prefix) {
  constexpr std::string_view kSuffix = ".tmp";
  if (!name.starts_with(prefix) || !name.ends_with(kSuffix)) return false;
  if (name.size() <= prefix.size() + kSuffix.size()) return false;
  name.remove_prefix(prefix.size());
  name.remove_suffix(kSuffix.size());
  return std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
}

/// The path of the folder itself, without "." or a slash at its end.
std::string named(const std::string& given) {
  fs::path path(given);
  if (!path.has_filename()) path = path.parent_path();
  std::error_code error;
  if (path.filename() == "." || path.filename() == "..")
    if (fs::path whole = fs::canonical(path, error); !error) path = std::move(whole);
  return path.string();
}

/// Removes the drafts for `path` that no process holds any more.
void sweep(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  const std::string prefix = fs::path(path).filename().string() + ".";
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder.empty() ? "." : folder, ignored)) {
    if (!is_draft_name(entry.path().filename().string(), prefix)) continue;
    struct stat about{};
    const Opened opened(entry.path(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (opened.number() >= 0 && fstat(opened.number(), &about) == 0 && is_draft(about) &&
        flock(opened.number(), LOCK_EX | LOCK_NB) == 0)
      fs::remove_all(entry.path(), ignored);
  }
}

/// A folder that goes away with all that is in it, unless it has another name by then.
class Draft {
 public:
  explicit Draft(std::string path) : path_(std::move(path)), opened_(made(path_)) {}
  ~Draft() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  const std::string& path() const { return path_; }

  /// It takes the place of `path`, and the mode of what is there (nullptr: nothing), which takes this one's
  /// place: at each moment what has a draft's name is marked as one.
  void replace(const std::string& path, const struct stat* old) {
    struct stat about{};
    fstat(opened_.number(), &about);
    const mode_t mode = (old != nullptr ? *old : about).st_mode & 07777 & ~mode_t{S_ISVTX};
    fchmod(opened_.number(), mode | S_ISVTX);
    if (old != nullptr) chmod(path.c_str(), (mode & ~mode_t{S_IWGRP | S_IWOTH}) | S_ISVTX);
    const int renamed = old != nullptr
                            ? renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE)
                            : rename(path_.c_str(), path.c_str());
    const int error = errno;
    if (renamed == 0) fchmod(opened_.number(), mode);
    if (renamed != 0 && old != nullptr) chmod(path.c_str(), old->st_mode & 07777);
    if (renamed != 0) throw_environment("{} cannot be replaced: {}", path, std::strerror(error));
  }

 private:
  // It is there before it is locked: until then another process takes it for a dead one's, and removes it.
  static Opened made(const std::string& path) {
    for (;;) {
      if (mkdir(path.c_str(), kDraftMode) != 0)
        throw_environment("{} cannot be created: {}", path, std::strerror(errno));
      Opened opened(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      if (opened.number() < 0 && errno != ENOENT)
        throw_environment("{} cannot be opened: {}", path, std::strerror(errno));
      // Where no folder can be locked nobody removes any.
      flock(opened.number(), LOCK_EX);
      struct stat mine{}, there{};
      if (fstat(opened.number(), &mine) == 0 && lstat(path.c_str(), &there) == 0 &&
          mine.st_ino == there.st_ino)
        return opened;
    }
  }

  std::string path_;
  Opened opened_;
};

void flush(const fs::path& path) {
  const Opened opened(path, O_RDONLY);
  if (opened.number() < 0 || fsync(opened.number()) != 0)
    throw_environment("{} cannot be flushed to disk: {}", path.string(), std::strerror(errno));
}

/// To the end, within the kernel where it can. False: errno says why not.
bool copy_to(int from, int to) {
  constexpr std::size_t kStep = std::size_t{1} << 30;
  ssize_t count = copy_file_range(from, nullptr, to, nullptr, kStep, 0);
  if (count >= 0) {
    while (count > 0) count = copy_file_range(from, nullptr, to, nullptr, kStep, 0);
    return count == 0;
  }
  std::string block(std::size_t{1} << 20, '\0');
  while ((count = read(from, block.data(), block.size())) > 0)
    for (ssize_t done = 0, now = 0; done < count; done += now)
      if ((now = write(to, block.data() + done, static_cast<std::size_t>(count - done))) < 0) return false;
  return count == 0;
}

void put(const FolderFile& file, const fs::path& place) {
  const auto expect = [&](bool right) {
    if (!right) throw_environment("{} cannot be written: {}", place.string(), std::strerror(errno));
  };
  if (file.source.empty()) {
    std::ofstream written(place, std::ios::binary);
    written.write(file.bytes.data(), static_cast<std::streamsize>(file.bytes.size()));
    written.close();
    return expect(written.good());
  }
  if (const std::string_view kind = kind_if_no_file(file.source); !kind.empty())
    throw_user("{} is {} and no file", file.source.string(), kind);
  const Opened from(file.source, O_RDONLY);
  if (from.number() < 0) throw_user("{} cannot be read: {}", file.source.string(), std::strerror(errno));
  const Opened to(place, O_WRONLY | O_CREAT | O_EXCL);
  expect(to.number() >= 0 && copy_to(from.number(), to.number()));
}

/// "'a', 'b' and 4 more".
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 5;
  const std::size_t shown = std::min(kMost, names.size());
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += fmt::format("{}'{}'", i == 0 ? "" : ", ", names[i]);
  return shown == names.size() ? text : fmt::format("{} and {} more", text, names.size() - shown);
}

bool is_mount_point(const std::string& path) {
  struct statx about{};
  return statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, 0, &about) == 0 &&
         (about.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

/// What it is; nullptr: nothing is there.
const struct stat* look_at(const std::string& path, struct stat& about) {
  return lstat(path.c_str(), &about) == 0 ? &about : nullptr;
}

}  // namespace

std::string read_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  if (!file) throw_user("{} cannot be read", path.string());
  return bytes;
}

void fill_folder(const std::string& folder, std::span<const FolderFile> files) {
  for (const FolderFile& file : files) {
    const fs::path place = fs::path(folder) / file.path;
    std::error_code error;
    fs::create_directories(place.parent_path(), error);
    if (error) throw_environment("{} cannot be created: {}", place.parent_path().string(), error.message());
    put(file, place);
  }
}

void check_replaceable(const std::string& given, OwnFiles* own_files) {
  const std::string path = named(given);
  struct stat about{};
  if (look_at(path, about) == nullptr) return;
  std::optional<FileList> ours;
  if (S_ISDIR(about.st_mode)) ours = own_files(path);
  if (!ours) throw_user("{} is there already and is no bundle: name another folder, or remove it", given);
  if (std::optional<FileList> list = list_of(path)) ours = std::move(list);
  if (const std::vector<std::string> others = others_in(path, *ours); !others.empty())
    throw_user(
        "{} would be replaced, and lehr has not written all of it: {}; move that, or name another folder",
        given, some_of(others));
  std::error_code error;
  if (leads_into(fs::current_path(error), path))
    throw_user("{} would be replaced, and is the current folder: run this from elsewhere", given);
  if (is_mount_point(path))
    throw_user("{} is a mount point, which nothing can replace: name a folder in it", given);
}

void write_folder(const std::string& given, std::span<const FolderFile> files, OwnFiles* own_files) {
  check_replaceable(given, own_files);
  const std::string path = named(given);
  for (const FolderFile& file : files)
    if (!file.source.empty() && leads_into(file.source, path))
      throw_user("{} would be replaced, and {} lies in it: name another folder", given, file.source.string());
  sweep(path);
  Draft draft(fmt::format("{}.{}.tmp", path, getpid()));
  fill_folder(draft.path(), files);
  FileList list;
  for (const FolderFile& file : files) list[file.path] = content_hash(fs::path(draft.path()) / file.path);
  fill_folder(draft.path(), std::array{FolderFile{kFileList, list_text(list)}});
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(draft.path())) flush(entry.path());
  flush(draft.path());
  // What was seen at first may be otherwise by now.
  check_replaceable(given, own_files);
  struct stat about{};
  draft.replace(path, look_at(path, about));
}

}  // namespace lehr
