// Kernels as `lehr export` has them, without a log.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "base/limits.h"
#include "deploy/export_folder.h"
#include "measure/system/temp_dir.h"
#include "runtime/lehr_bundle.h"
#include "target/isa.h"

namespace lehr::testing {

/// A kernel of the first family that takes the workload, or of the one named, as if it had been measured on
/// two threads here, or on a processor of that level.
RebuiltKernel exported(const std::string& text, double time_us, const char* family = nullptr,
                       const Isa& isa = {});
/// The same of that config, on two threads here.
RebuiltKernel exported(const std::string& text, double time_us, const Config& config);

/// A config of gemm_cpu for two threads here, and the same with tiles of another height.
struct TwoTiles {
  Config usual, other;
};
TwoTiles two_tiles(const std::string& text);

FolderOptions options();

/// What they are exported as; each that is told the number of rows is in a set of its own, but for those that
/// `sets` name.
std::vector<FolderFile> files_of(std::span<const RebuiltKernel> kernels, const FolderOptions& given,
                                 std::vector<RebuiltSet> sets = {});

struct Folder {
  TempDir directory;
  std::string path = directory.path() + "/bundle";
  explicit Folder(std::span<const RebuiltKernel> kernels, const FolderOptions& given = options(),
                  std::vector<RebuiltSet> sets = {});
};

/// The folder's bundle, whose kernels have passed their self-tests.
struct Opened {
  lehr_bundle handle = 0;
  explicit Opened(const std::string& path);
  ~Opened();
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
};

/// Memory as scratch and prepacked parameters are to lie.
struct alignas(64) Aligned {
  std::array<unsigned char, 64> bytes{};
};

}  // namespace lehr::testing
