#include "deploy/folder_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

#include "base/error.h"
#include "base/file_kind.h"

namespace lehr {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMarkerText =
    "lehr wrote this folder, and with --replace it removes all that is in it.\n";
/// The file that marks a draft. It exists from the time when the draft is locked until the draft is removed.
constexpr const char* kDraftMarker = "lehr_draft";

/// Owns a file descriptor.
class Opened {
 public:
  Opened(const fs::path& path, int flags) : number_(open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~Opened() {
    if (number_ >= 0) close(number_);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  int number() const { return number_; }

 private:
  const int number_;
};

/// Returns the absolute path of a folder. Links, "." and ".." in the path to its parent folder are resolved,
/// since they may lead through a folder that is moved. If the folder itself is a link, its path is that of
/// the link.
fs::path named(const std::string& given) {
  fs::path path(given);
  if (!path.has_filename()) path = path.parent_path();
  const bool is_name = path.has_filename() && path.filename() != "." && path.filename() != "..";
  const fs::path parent = path.has_parent_path() ? path.parent_path() : ".";
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(is_name ? parent : path, error);
  if (error) throw_environment("{} cannot be written: {}", given, error.message());
  return is_name ? whole / path.filename() : whole;
}

/// Whether a folder has a regular file of this name. A link or another kind of file does not count.
bool has_file(const fs::path& folder, const char* name) {
  std::error_code ignored;
  return fs::symlink_status(folder / name, ignored).type() == fs::file_type::regular;
}

void flush(const fs::path& path) {
  const Opened opened(path, O_RDONLY);
  if (opened.number() < 0 || fsync(opened.number()) != 0)
    throw_environment("{} cannot be flushed to disk: {}", path.string(), std::strerror(errno));
}

/// Copies a file to its end, within the kernel if possible. If that fails, returns false and sets errno.
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

bool is_mount_point(const fs::path& path) {
  struct statx about{};
  return statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, 0, &about) == 0 &&
         (about.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

/// A temporary folder next to the target. It contains the new folder and, while the old folder is being
/// replaced, the old one.
class Draft {
 public:
  explicit Draft(const fs::path& place)
      : place_(place),
        draft_(fmt::format("{}.{}.tmp", place.string(), getpid())),
        made_(mkdir(draft_.c_str(), 0777) == 0 ? 0 : errno),
        opened_(draft_, O_RDONLY | O_DIRECTORY) {
    if (made_ != 0) throw_environment("{} cannot be created: {}", draft_.string(), std::strerror(made_));
    flock(opened_.number(), LOCK_EX);  // if the file system has no locks, sweep() removes no drafts
  }
  ~Draft() {
    std::error_code ignored;
    if (!fs::exists(draft_ / kOld, ignored)) remove(draft_);
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  void fill(std::span<const FolderFile> files) const {
    const fs::path whole = draft_ / kNew;
    fill_folder(draft_, std::array{FolderFile{kDraftMarker, ""}});
    fill_folder(whole, files);
    fill_folder(whole, std::array{FolderFile{kFolderMarker, kMarkerText}});
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(whole)) flush(entry.path());
    flush(whole);
  }

  /// Moves the new folder to the target. With `replace`, the old folder is moved away first.
  void put_in_place(bool replace) const {
    const fs::path old = draft_ / kOld;
    if (replace && rename(place_.c_str(), old.c_str()) != 0 && errno != ENOENT)
      throw_environment("{} cannot be replaced: {}", place_.string(), std::strerror(errno));
    std::error_code ignored;
    if (rename((draft_ / kNew).c_str(), place_.c_str()) != 0) {
      const int error = errno;
      rename(old.c_str(), place_.c_str());
      throw_environment("{} cannot be put in place: {}{}", place_.string(), std::strerror(error),
                        fs::exists(old, ignored) ? "; the old one is " + old.string() : "");
    }
    fs::remove_all(old, ignored);
  }

  /// Removes other drafts for the same target that no process holds locked.
  void sweep() const {
    const std::string prefix = place_.filename().string() + ".";
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(place_.parent_path(), ignored)) {
      const std::string name = entry.path().filename().string();
      const int process = name.starts_with(prefix) ? std::atoi(name.c_str() + prefix.size()) : 0;
      if (process <= 0 || name != fmt::format("{}{}.tmp", prefix, process)) continue;
      const Opened opened(entry.path(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      if (opened.number() < 0 || flock(opened.number(), LOCK_EX | LOCK_NB) != 0) continue;
      if (has_file(entry.path(), kDraftMarker))
        remove(entry.path());
      else
        rmdir(entry.path().c_str());  // a draft that has no marker yet is empty
    }
  }

 private:
  static constexpr const char* kNew = "new";
  static constexpr const char* kOld = "old";

  /// Removes a draft, with its marker as the last file. If the removal is interrupted, the rest is still
  /// recognized as a draft.
  static void remove(const fs::path& draft) {
    std::error_code ignored;
    for (const char* folder : {kNew, kOld}) fs::remove_all(draft / folder, ignored);
    fs::remove_all(draft, ignored);
  }

  const fs::path place_, draft_;
  const int made_;  ///< 0, or errno if the draft could not be made
  const Opened opened_;
};

/// Throws Error(kUser) unless the existing folder at `path` is empty or may be replaced.
void check_old(const std::string& given, const fs::path& path, bool replace) {
  std::error_code error;
  if (fs::is_symlink(path, error)) throw_user("{} is a link: name a folder that is new or empty", given);
  if (!fs::is_directory(path, error))
    throw_user("{} is there already and is no folder: name another one", given);
  if (leads_into(fs::current_path(error), path))
    throw_user("{} is the current folder, or that is in it: name another folder", given);
  if (is_mount_point(path))
    throw_user("{} is a mount point, which nothing can take the place of: name a folder in it", given);
  if (fs::is_empty(path, error)) return;
  if (!replace)
    throw_user(
        "{} is there already and is not empty: name another folder, remove this one, or pass --replace if "
        "lehr wrote it",
        given);
  if (!has_file(path, kFolderMarker))
    throw_user("{} has no file {}, which lehr leaves in what it writes: name another folder, or remove it",
               given, kFolderMarker);
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

void check_out_folder(const std::string& given, bool replace, const std::vector<std::string>& inputs) {
  const fs::path path = named(given);
  for (const std::string& input : inputs)
    if (!input.empty() && leads_into(input, path))
      throw_user("{} cannot be written, {} lies in it: name another folder", given, input);
  std::error_code error;
  if (fs::exists(fs::symlink_status(path, error))) check_old(given, path, replace);
  if (access((path.parent_path() / ".").c_str(), W_OK | X_OK) != 0)
    throw_environment("{} cannot be written: {}: {}", given, path.parent_path().string(),
                      std::strerror(errno));
}

void write_folder(const std::string& path, std::span<const FolderFile> files, bool replace) {
  std::vector<std::string> sources;
  for (const FolderFile& file : files) sources.push_back(file.source.string());
  check_out_folder(path, replace, sources);
  const Draft draft(named(path));
  draft.fill(files);
  check_out_folder(path, replace);  // the folder may have changed since the first check
  draft.put_in_place(replace);
  draft.sweep();
}

}  // namespace lehr
