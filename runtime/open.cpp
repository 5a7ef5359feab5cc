// From a folder to an open bundle.
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

#include "runtime/bundle.h"
#include "runtime/message.h"
#include "runtime/sha256.h"

namespace lehr::runtime {
namespace {

constexpr std::size_t kMostFileBytes = std::size_t{1} << 30;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }

 private:
  int number_;
};

// Hands every piece of a file to `take`, which may refuse one. The same file is not opened twice: what is
// read is what is hashed.
template <typename Take>
lehr_status read_file(int folder, const char* path, const char* shown, Take take, lehr_error* error) {
  // Not blocking: a FIFO would wait for a writer.
  const Descriptor file(openat(folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat about;
  if (file.get() < 0 || fstat(file.get(), &about) != 0)
    return fail(error, LEHR_BAD_BUNDLE, "%s/%s cannot be opened: %s", shown, path, std::strerror(errno));
  if (!S_ISREG(about.st_mode)) return fail(error, LEHR_BAD_BUNDLE, "%s/%s is no file", shown, path);
  if (static_cast<std::uint64_t>(about.st_size) > kMostFileBytes)
    return fail(error, LEHR_BAD_BUNDLE, "%s/%s is too large", shown, path);
  char piece[16384];
  for (;;) {
    const ssize_t count = read(file.get(), piece, sizeof piece);
    if (count == 0) return LEHR_OK;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0)
      return fail(error, LEHR_BAD_BUNDLE, "%s/%s cannot be read: %s", shown, path, std::strerror(errno));
    if (!take(piece, static_cast<std::size_t>(count)))
      return fail(error, LEHR_NO_MEMORY, "there is no memory for %s/%s", shown, path);
  }
}

lehr_status read_manifest_of(const char* shown, int folder, Bundle& bundle, lehr_error* error) {
  const auto take = [&](const char* piece, std::size_t count) {
    const std::size_t before = bundle.text.size();
    if (before > Json::kMostBytes || !bundle.text.resize(before + count)) return false;
    std::memcpy(bundle.text.data() + before, piece, count);
    return true;
  };
  if (const lehr_status status = read_file(folder, "manifest.json", shown, take, error); status != LEHR_OK)
    return status;
  char where[PATH_MAX + 16];
  std::snprintf(where, sizeof where, "%s/manifest.json", shown);
  return read_manifest(where, bundle.text.data(), bundle.text.size(), bundle.manifest, error);
}

lehr_status check_files(const char* shown, int folder, const Manifest& manifest, lehr_error* error) {
  for (const ManifestFile& file : manifest.files) {
    Sha256 hash;
    const auto take = [&](const char* piece, std::size_t count) {
      hash.add(piece, count);
      return true;
    };
    if (const lehr_status status = read_file(folder, file.path.data(), shown, take, error); status != LEHR_OK)
      return status;
    if (file.sha256 != hash.hex().data())
      return fail(error, LEHR_BAD_BUNDLE, "%s/%s is not the file that was exported: its hash differs", shown,
                  file.path.data());
  }
  return LEHR_OK;
}

#if defined(__aarch64__)
constexpr unsigned kElfMachine = EM_AARCH64;
#else
constexpr unsigned kElfMachine = EM_X86_64;
#endif

// Whether a piece of a file ends where the file does, or before.
bool is_within(std::uint64_t offset, std::uint64_t bytes, std::uint64_t size) {
  return offset <= size && bytes <= size - offset;
}

bool read_piece(int file, std::uint64_t offset, void* to, std::size_t bytes) {
  return pread(file, to, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

// Whether a dynamic linker finds all that the file's headers speak of: what it maps beyond the file's end is
// a signal, not an error.
bool is_whole_library(int file, std::uint64_t size) {
  Elf64_Ehdr header;
  if (!read_piece(file, 0, &header, sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_type != ET_DYN || header.e_machine != kElfMachine ||
      header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0 ||
      !is_within(header.e_shoff, std::uint64_t{header.e_shnum} * header.e_shentsize, size))
    return false;
  bool has_dynamic = false;
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    const std::uint64_t at = i * sizeof segment;
    if (!is_within(header.e_phoff, at + sizeof segment, size) ||
        !read_piece(file, header.e_phoff + at, &segment, sizeof segment) ||
        !is_within(segment.p_offset, segment.p_filesz, size) || segment.p_filesz > segment.p_memsz)
      return false;
    has_dynamic = has_dynamic || segment.p_type == PT_DYNAMIC;
  }
  return has_dynamic;
}

lehr_status check_library(int folder, const char* path, const char* shown, lehr_error* error) {
  const Descriptor file(openat(folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat about;
  if (file.get() >= 0 && fstat(file.get(), &about) == 0 &&
      is_whole_library(file.get(), static_cast<std::uint64_t>(about.st_size)))
    return LEHR_OK;
  return fail(error, LEHR_BAD_BUNDLE, "%s/%s is no whole library for this machine", shown, path);
}

/// What entry_in() remembers between two functions of one file.
struct Loading {
  const char* folder;
  int descriptor;
  Bundle* bundle;
  const ManifestFile* file = nullptr;
  void* library = nullptr;
};

Entry entry_in(void* context, const ManifestKernel& kernel, std::string_view name, lehr_error* error) {
  Loading& loading = *static_cast<Loading*>(context);
  const ManifestFile* const its_file = &loading.bundle->manifest.files[kernel.file];
  const char* const file = its_file->path.data();
  if (!its_file->path.ends_with(".so")) {
    fail(error, LEHR_BAD_BUNDLE, "%s has a kernel that is no shared object", loading.folder);
    return nullptr;
  }
  if (loading.file != its_file) {
    if (check_library(loading.descriptor, file, loading.folder, error) != LEHR_OK) return nullptr;
    char path[PATH_MAX + 256];
    std::snprintf(path, sizeof path, "%s/%s", loading.folder, file);
    loading.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    loading.file = its_file;
    if (loading.library != nullptr && !loading.bundle->libraries.add(loading.library))
      dlclose(std::exchange(loading.library, nullptr));
  }
  if (loading.library == nullptr) {
    const char* const reason = dlerror();
    fail(error, LEHR_BAD_BUNDLE, "%s cannot be loaded: %s", file, reason ? reason : "no memory");
    return nullptr;
  }
  char symbol[300];
  std::snprintf(symbol, sizeof symbol, "%s_call", kernel.name.data());
  const void* const call = dlsym(loading.library, symbol);  // an older version's has none
  if (call != nullptr && std::memcmp(call, &kernel.call_hash, sizeof kernel.call_hash) != 0) {
    fail(error, LEHR_BAD_BUNDLE, "%s/%s has other parameters or steps than the manifest says", loading.folder,
         file);
    return nullptr;
  }
  const auto entry = reinterpret_cast<Entry>(dlsym(loading.library, name.data()));
  if (entry == nullptr) fail(error, LEHR_BAD_BUNDLE, "%s has no function named %s", file, name.data());
  return entry;
}

// What is loaded is what was hashed: a file that was changed since then is not loaded.
lehr_status image_of(void* context, const ManifestFile& file, Array<char>& bytes, lehr_error* error) {
  const Loading& loading = *static_cast<Loading*>(context);
  Sha256 hash;
  const auto take = [&](const char* piece, std::size_t count) {
    const std::size_t before = bytes.size();
    if (!bytes.resize(before + count)) return false;
    std::memcpy(bytes.data() + before, piece, count);
    hash.add(piece, count);
    return true;
  };
  if (const lehr_status status = read_file(loading.descriptor, file.path.data(), loading.folder, take, error);
      status != LEHR_OK)
    return status;
  if (file.sha256 == hash.hex().data()) return LEHR_OK;
  return fail(error, LEHR_BAD_BUNDLE, "%s/%s was changed while it was opened", loading.folder,
              file.path.data());
}

lehr_status open_folder(const char* shown, Bundle& bundle, lehr_error* error) {
  char path[PATH_MAX];
  const Descriptor folder(open(shown, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0 || realpath(shown, path) == nullptr)
    return fail(error, LEHR_BAD_BUNDLE, "%s cannot be opened: %s", shown, std::strerror(errno));
  if (const lehr_status status = read_manifest_of(shown, folder.get(), bundle, error); status != LEHR_OK)
    return status;
  if (const lehr_status status = check_files(shown, folder.get(), bundle.manifest, error); status != LEHR_OK)
    return status;
  Loading loading{path, folder.get(), &bundle};
  return load_kernels(bundle, shown, &entry_in, &loading, error, &image_of);
}

}  // namespace
}  // namespace lehr::runtime

using namespace lehr::runtime;

lehr_status lehr_open(const char* folder, const lehr_open_options* options, lehr_bundle* bundle,
                      lehr_error* error) {
  if (folder == nullptr || bundle == nullptr)
    return fail(error, LEHR_BAD_ARGUMENT, "lehr_open needs a folder and a place for the handle");
  *bundle = 0;
  Owner<Bundle> opened;
  lehr_open_options taken;
  if (const lehr_status status = begin_opening(options, folder, opened, taken, error); status != LEHR_OK)
    return status;
  if (const lehr_status status = open_folder(folder, *opened, error); status != LEHR_OK) return status;
  return finish_opening(std::move(opened), taken, bundle, error);
}

lehr_status lehr_close(lehr_bundle bundle, lehr_error* error) {
  if (unregister_bundle(bundle)) return succeed(error);
  return fail(error, LEHR_BAD_ARGUMENT, "the bundle is not open");
}
