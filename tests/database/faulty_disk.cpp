// A VFS in front of SQLite's own (sqlite.org/vfs.html).
#include "tests/database/faulty_disk.h"

#include <sqlite3.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <new>
#include <string>
#include <vector>

#include "base/error.h"

namespace lehr::test {
namespace {

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

struct FaultyDisk::State {
  struct Write {
    std::int64_t offset = 0;
    std::string bytes;
    bool truncate = false;  // the file's new end is `offset`
  };
  // The bytes that are certain to be on the disk, and the writes that may be.
  struct Content {
    std::string synced;
    std::vector<Write> pending;
  };

  sqlite3_vfs vfs = {};
  sqlite3_vfs* real = nullptr;
  std::map<std::string, Content> files;
  std::int64_t until = 0;  // operations up to the fault; 0: no fault is armed
  Fault fault = Fault::kIoError;
  bool struck = false, power = true;

  /// Returns SQLITE_OK, or the code of the fault that meets this operation.
  int operation(int io_error, bool writes) {
    if (!power) return failed(io_error, EIO);
    if (struck && fault == Fault::kNoSpace && writes) return failed(SQLITE_FULL, ENOSPC);
    if (until == 0 || --until > 0) return SQLITE_OK;
    if (fault == Fault::kNoSpace && !writes) {
      until = 1;  // strikes at the next write
      return SQLITE_OK;
    }
    struck = true;
    if (fault == Fault::kNoSpace) return failed(SQLITE_FULL, ENOSPC);
    if (fault == Fault::kPowerCut) power = false;
    return failed(io_error, EIO);
  }
  static int failed(int code, int system_error) {
    errno = system_error;
    return code;
  }
};

namespace {

using State = FaultyDisk::State;

struct File {
  sqlite3_file base;
  State* state;
  std::string* path;  // "" for a temporary file
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};
File* file_of(sqlite3_file* file) {
  return reinterpret_cast<File*>(file);
}
const sqlite3_io_methods* real_of(sqlite3_file* file) {
  return file_of(file)->real()->pMethods;
}
using Content = State::Content;
// Returns the content that is tracked, or nullptr.
Content* content_of(sqlite3_file* file) {
  const std::string& path = *file_of(file)->path;
  return path.empty() ? nullptr : &file_of(file)->state->files[path];
}

int close_file(sqlite3_file* file) {
  const int code = real_of(file)->xClose(file_of(file)->real());
  delete file_of(file)->path;
  return code;
}
int read_file(sqlite3_file* file, void* into, int count, sqlite3_int64 offset) {
  return real_of(file)->xRead(file_of(file)->real(), into, count, offset);
}
int write_file(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 offset) {
  if (const int code = file_of(file)->state->operation(SQLITE_IOERR_WRITE, true); code != SQLITE_OK)
    return code;
  if (Content* content = content_of(file))
    content->pending.push_back({offset, std::string(static_cast<const char*>(bytes), count), false});
  return real_of(file)->xWrite(file_of(file)->real(), bytes, count, offset);
}
int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  if (const int code = file_of(file)->state->operation(SQLITE_IOERR_TRUNCATE, false); code != SQLITE_OK)
    return code;
  if (Content* content = content_of(file)) content->pending.push_back({size, "", true});
  return real_of(file)->xTruncate(file_of(file)->real(), size);
}
int sync_file(sqlite3_file* file, int) {
  if (const int code = file_of(file)->state->operation(SQLITE_IOERR_FSYNC, false); code != SQLITE_OK)
    return code;
  if (Content* content = content_of(file)) *content = {read_all(*file_of(file)->path), {}};
  return SQLITE_OK;
}
int size_of_file(sqlite3_file* file, sqlite3_int64* size) {
  return real_of(file)->xFileSize(file_of(file)->real(), size);
}
int lock(sqlite3_file* file, int level) {
  return real_of(file)->xLock(file_of(file)->real(), level);
}
int unlock(sqlite3_file* file, int level) {
  return real_of(file)->xUnlock(file_of(file)->real(), level);
}
int check_reserved_lock(sqlite3_file* file, int* result) {
  return real_of(file)->xCheckReservedLock(file_of(file)->real(), result);
}
int control(sqlite3_file* file, int operation, void* argument) {
  return real_of(file)->xFileControl(file_of(file)->real(), operation, argument);
}
int sector_size(sqlite3_file* file) {
  return real_of(file)->xSectorSize(file_of(file)->real());
}
// Promises nothing: no atomic writes, no order among writes.
int characteristics(sqlite3_file*) {
  return 0;
}
int shm_map(sqlite3_file* file, int region, int size, int extend, void volatile** memory) {
  return real_of(file)->xShmMap(file_of(file)->real(), region, size, extend, memory);
}
int shm_lock(sqlite3_file* file, int offset, int count, int flags) {
  return real_of(file)->xShmLock(file_of(file)->real(), offset, count, flags);
}
void shm_barrier(sqlite3_file* file) {
  real_of(file)->xShmBarrier(file_of(file)->real());
}
int shm_unmap(sqlite3_file* file, int remove) {
  return real_of(file)->xShmUnmap(file_of(file)->real(), remove);
}

constexpr sqlite3_io_methods kMethods = {
    2,        close_file,  read_file,           write_file, truncate_file, sync_file,       size_of_file,
    lock,     unlock,      check_reserved_lock, control,    sector_size,   characteristics, shm_map,
    shm_lock, shm_barrier, shm_unmap,           nullptr,    nullptr};

State* state_of(sqlite3_vfs* vfs) {
  return static_cast<State*>(vfs->pAppData);
}

int open_file(sqlite3_vfs* vfs, const char* name, sqlite3_file* opened, int flags, int* out_flags) {
  State* state = state_of(vfs);
  File* file = file_of(opened);
  file->base.pMethods = nullptr;
  file->state = state;
  const int code = state->real->xOpen(state->real, name, file->real(), flags, out_flags);
  if (code != SQLITE_OK) return code;
  file->path = new std::string(name == nullptr ? "" : name);
  // The bytes that were there before this disk are certain.
  if (name != nullptr && !state->files.contains(name)) state->files[name] = {read_all(name), {}};
  file->base.pMethods = &kMethods;
  return SQLITE_OK;
}

int delete_file(sqlite3_vfs* vfs, const char* name, int sync_directory) {
  State* state = state_of(vfs);
  if (const int code = state->operation(SQLITE_IOERR_DELETE, false); code != SQLITE_OK) return code;
  state->files.erase(name);
  return state->real->xDelete(state->real, name, sync_directory);
}

}  // namespace

FaultyDisk::FaultyDisk() : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.real = sqlite3_vfs_find(nullptr);
  state.vfs = *state.real;
  state.vfs.zName = "faulty disk";
  state.vfs.pNext = nullptr;
  state.vfs.pAppData = state_.get();
  state.vfs.szOsFile = static_cast<int>(sizeof(File)) + state.real->szOsFile;
  state.vfs.xOpen = open_file;
  state.vfs.xDelete = delete_file;
  if (sqlite3_vfs_register(&state.vfs, 1) != SQLITE_OK) throw_environment("no second VFS");
}

FaultyDisk::~FaultyDisk() {
  sqlite3_vfs_unregister(&state_->vfs);
  sqlite3_vfs_register(state_->real, 1);
}

void FaultyDisk::fail_at(std::int64_t k, Fault fault) {
  heal();
  state_->until = k;
  state_->fault = fault;
}

bool FaultyDisk::struck() const {
  return state_->struck;
}

void FaultyDisk::heal() {
  state_->until = 0;
  state_->struck = false;
  state_->power = true;
}

void FaultyDisk::restart(Rng& rng) {
  constexpr std::size_t kSector = 512;
  for (const auto& [path, content] : state_->files) {
    std::string bytes = content.synced;
    for (const State::Write& write : content.pending) {
      const std::uint64_t fate = rng.below(3);  // on the disk, lost, torn
      if (fate == 1) continue;
      const auto offset = static_cast<std::size_t>(write.offset);
      if (write.truncate) {
        if (bytes.size() > offset) bytes.resize(offset);
        continue;
      }
      const std::size_t count =
          fate == 0 ? write.bytes.size() : rng.below(write.bytes.size() / kSector + 1) * kSector;
      if (count == 0) continue;
      if (bytes.size() < offset + count) bytes.resize(offset + count, '\0');
      bytes.replace(offset, count, write.bytes, 0, count);
    }
    std::ofstream(path, std::ios::binary) << bytes;
    std::error_code ignored;
    std::filesystem::remove(path + "-shm", ignored);
  }
  state_->files.clear();
  heal();
}

}  // namespace lehr::test
