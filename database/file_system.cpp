#include "database/file_system.h"

#include <fcntl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/error.h"
#include "base/file_kind.h"

namespace lehr {
namespace {

namespace fs = std::filesystem;

struct Kind {
  std::uint32_t magic;
  std::string_view name;
};
constexpr std::array<Kind, 20> kNetwork = {{
    {0x00006969, "NFS"},      {0xFF534D42, "CIFS"},  {0xFE534D42, "SMB"},    {0x0000517B, "SMB"},
    {0x01021997, "9p"},       {0x65735546, "FUSE"},  {0x0BD00BD0, "Lustre"}, {0x47504653, "GPFS"},
    {0x19830326, "BeeGFS"},   {0x00C36400, "Ceph"},  {0x5346414F, "AFS"},    {0x6B414653, "AFS"},
    {0x73757245, "Coda"},     {0x0000564C, "NCP"},   {0x7461636F, "OCFS2"},  {0x01161970, "GFS2"},
    {0x20030528, "OrangeFS"}, {0xAAD7AAEA, "PanFS"}, {0x786F4256, "vboxsf"}, {0xBACBACBC, "vmhgfs"},
}};

fs::path directory_of(const fs::path& path) {
  const fs::path directory = fs::absolute(path).parent_path();
  return directory.empty() ? fs::path("/") : directory;
}

fs::path beside(const fs::path& path, const char* suffix) {
  return fs::path(path.string() + suffix);
}

// Throws for a file of one byte, because SQLite takes it for an empty file and would overwrite it. SQLite
// itself refuses all other files that are not its own. Nothing is read here: closing the file would release
// this process's locks on it (fcntl(2)), and another process would then remove the "-wal" file of an open
// log.
void refuse_one_byte(const fs::path& path) {
  std::error_code error;
  if (fs::file_size(path, error) == 1)
    throw_user("'{}' is not a Lehr database: it is no SQLite file", path.string());
}

void refuse_no_file(const fs::path& path) {
  if (const std::string_view kind = kind_if_no_file(path); !kind.empty())
    throw_user("'{}' is {}; the name of a database file is needed", path.string(), kind);
}

// Returns network_file_system() of the file or folder `place`. `path` is the database's path, for messages.
std::string_view file_system_of(const fs::path& place, const fs::path& path) {
  struct statfs info = {};
  if (::statfs(place.c_str(), &info) == 0)
    return network_file_system(static_cast<std::uint64_t>(info.f_type));
  if (errno == ENOENT || errno == ENOTDIR) {
    throw_user("the directory '{}' of the database '{}' does not exist; create it first", place.string(),
               path.string());
  }
  throw_environment("the database '{}' cannot be reached: {}", path.string(), std::strerror(errno));
}

}  // namespace

std::string_view network_file_system(std::uint64_t magic) {
  for (const Kind& kind : kNetwork) {
    if (kind.magic == static_cast<std::uint32_t>(magic)) return kind.name;
  }
  return "";
}

void check_place(const fs::path& path) {
  refuse_no_file(path);
  std::error_code ignored;
  const bool exists = fs::exists(path, ignored);
  const std::string_view network = file_system_of(exists ? path : directory_of(path), path);
  if (!network.empty()) {
    throw_environment(
        "the database '{}' lies on a network file system ({}), where rows can be lost; write to a local disk "
        "(--db), "
        "and bring logs together with lehr db merge",
        path.string(), network);
  }
  if (exists) refuse_one_byte(path);
}

sqlite::Mode read_only_mode(const fs::path& path) {
  refuse_no_file(path);
  std::error_code error;
  if (!fs::exists(path, error)) throw_user("there is no database '{}'", path.string());
  // The write-ahead log lies next to the file itself, not next to a link to it.
  const fs::path file = fs::canonical(path, error);
  if (error) throw_environment("the database '{}' cannot be opened: {}", path.string(), error.message());

  refuse_one_byte(path);

  const fs::path log = beside(file, "-wal");
  const bool has_log = fs::exists(log, error), has_rows = has_log && fs::file_size(log, error) > 0;
  // Lehr never writes there, so the file is complete unless it was copied without its write-ahead log.
  if (const std::string_view network = file_system_of(file, path); !network.empty()) {
    if (has_rows)
      throw_environment(
          "the database '{}' lies on a network file system ({}) with rows in '{}'; copy both files to a "
          "local disk",
          path.string(), network, log.filename().string());
    return sqlite::Mode::kImmutable;
  }
  const bool has_helpers = has_log && fs::exists(beside(file, "-shm"), error);
  const bool can_create = ::faccessat(AT_FDCWD, directory_of(file).c_str(), W_OK | X_OK, AT_EACCESS) == 0;
  // Only a writer should move the rows of a write-ahead log or a journal to the file.
  const bool waits = has_rows || fs::exists(beside(file, "-journal"), error);
  if (can_create && !waits && ::faccessat(AT_FDCWD, file.c_str(), W_OK, AT_EACCESS) == 0)
    return sqlite::Mode::kReadTidily;
  if (has_helpers || can_create) return sqlite::Mode::kReadOnly;
  if (has_rows) {
    throw_environment(
        "the database '{}' has rows in '{}' that cannot be read in a read-only directory; copy both files to "
        "a "
        "directory that can be written",
        path.string(), log.filename().string());
  }
  return sqlite::Mode::kImmutable;
}

}  // namespace lehr
