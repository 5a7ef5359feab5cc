// Kernels as `lehr export` has them, without a log.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "base/limits.h"
#include "deploy/library.h"
#include "measure/system/temp_dir.h"
#include "runtime/kernels.h"
#include "target/isa.h"

namespace lehr::testing {

/// Returns a kernel of the first family that takes the workload, or of the one named, as if it had been
/// measured on two threads here, or on a processor of that level.
RebuiltKernel exported(const std::string& text, double time_us, const char* family = nullptr,
                       const Isa& isa = {});
/// Returns a kernel of that config, as if it had been measured on two threads here.
RebuiltKernel exported(const std::string& text, double time_us, const Config& config);

/// A config of gemm_cpu for two threads here, and the same with tiles of another height.
struct TwoTiles {
  Config usual, other;
};
TwoTiles two_tiles(const std::string& text);

/// Returns the given sets, and one more for each kernel that takes the number of rows and is in no set.
std::vector<RebuiltSet> sets_of(std::span<const RebuiltKernel> kernels, std::vector<RebuiltSet> sets = {});
/// Returns the files that `lehr export` writes of them.
std::vector<FolderFile> files_of(std::span<const RebuiltKernel> kernels, std::vector<RebuiltSet> sets = {},
                                 const std::string& name = "kernels");

/// A library, loaded by the names of its functions, as a program does that knows no header.
class LoadedLibrary {
 public:
  explicit LoadedLibrary(std::span<const RebuiltKernel> kernels, std::vector<RebuiltSet> sets = {},
                         const std::string& name = "kernels");
  /// Loads the library of that name that these files make.
  explicit LoadedLibrary(std::span<const FolderFile> files, const std::string& name = "kernels");

  const std::string& folder() const { return folder_; }
  kernels_context* create(const kernels_options& options, std::string* message = nullptr) const;
  kernels_context* create(std::uint32_t threads) const {
    return create({threads, 0, 0, 1, nullptr, nullptr, nullptr});
  }
  /// Returns the function of that name; `name` lacks the library's prefix.
  template <typename Signature>
  Signature* function(const std::string& function) const {
    return reinterpret_cast<Signature*>(symbol(function));
  }

  decltype(&kernels_destroy) destroy;
  decltype(&kernels_message) message;
  decltype(&kernels_find) find;
  decltype(&kernels_describe) describe;
  decltype(&kernels_call) call;
  decltype(&kernels_pack_bytes) pack_bytes;
  decltype(&kernels_pack) pack;
  decltype(&kernels_self_test) self_test;
  decltype(&kernels_use) use;
  decltype(&kernels_count) count;
  decltype(&kernels_at) at;

 private:
  void* symbol(const std::string& function) const;

  TempDir directory_;
  std::string folder_ = directory_.path() + "/library";
  std::string name_;
  void* library_ = nullptr;
};

/// Memory aligned as scratch and prepacked parameters must be.
struct alignas(64) Aligned {
  std::array<unsigned char, 64> bytes{};
};

}  // namespace lehr::testing
