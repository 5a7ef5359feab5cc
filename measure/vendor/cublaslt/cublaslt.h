// cuBLASLt wrapped in RAII values and status codes. The library is loaded at run time and never linked. Its
// functions are declared here by hand.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "measure/cuda/cuda_driver.h"
#include "measure/system/shared_library.h"
#include "measure/vendor/cublaslt/cublaslt_gemm.h"

namespace lehr::cublaslt {

/// The result of a library call: cublasStatus_t (cublas_api.h of CUDA 13.0).
struct [[nodiscard]] LtStatus {
  int code = 0;
  const char* call = "";  ///< the function that returned it
  bool ok() const { return code == 0; }
  bool not_supported() const { return code == 15; }  ///< CUBLAS_STATUS_NOT_SUPPORTED
};

/// cublasLtMatmulAlgo_t, with the workspace that the heuristic reports for it.
struct LtAlgorithm {
  std::array<std::uint64_t, 8> opaque{};
  std::int64_t workspace_bytes = 0;
};

/// The loaded library. It must outlive everything that is made with it.
class CublasLt {
 public:
  struct Functions;

  /// Opens the first of `paths` that the loader finds. If it finds none, or the library lacks a function,
  /// returns nullptr and sets `why_not` to the reason.
  static std::unique_ptr<CublasLt> open(std::span<const std::string> paths, std::string& why_not);
  ~CublasLt();
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;

  /// Makes the library's context on the current device. Call it once before describing anything.
  LtStatus start();

  const std::string& path() const { return path_; }
  std::string version() const;  ///< "13.1.0"
  /// Returns "CUBLAS_STATUS_NOT_SUPPORTED (the functionality is not supported) from cublasLtMatmul".
  std::string text_of(LtStatus status) const;

  const Functions& functions() const { return *functions_; }
  void* handle() const { return handle_; }

 private:
  CublasLt();
  std::string path_;
  std::unique_ptr<Functions> functions_;
  void* handle_ = nullptr;
};

/// Returns the paths where the library is looked for: next to this program and in `lib` next to it, where the
/// loader looks, in `folders` (cuda_library_folders(); workers get them as LD_LIBRARY_PATH), and in the usual
/// folders of a CUDA toolkit. In each folder the newest version comes first.
std::vector<std::string> cublaslt_paths(std::span<const std::string> folders = {});

/// One GEMM, described to the library once and run any number of times.
class LtMatmul {
 public:
  LtStatus describe(const CublasLt& library, const LtGemm& gemm);
  /// Finds up to `count` algorithms, in the library's order of preference, for operands whose addresses are
  /// multiples of `alignment` bytes and for workspaces of up to `workspace_bytes`. If the library has no
  /// algorithm, `found` is empty and the status is ok().
  LtStatus heuristics(std::int64_t workspace_bytes, int count, std::uint32_t alignment,
                      std::vector<LtAlgorithm>& found) const;
  /// Computes D = op(first) op(second) on `stream` (a CUstream).
  LtStatus run(const LtAlgorithm& algorithm, CudaAddress first, CudaAddress second, CudaAddress d,
               CudaAddress workspace, void* stream) const;
  /// Returns the library's own numbers of an algorithm: "algorithm 66, tile 20, split-K 1".
  std::string describe(const LtAlgorithm& algorithm) const;
  /// Returns all numbers that the library reports of an algorithm, including its stages and the order of its
  /// blocks.
  std::string numbers_of(const LtAlgorithm& algorithm) const;
  const LtGemm& gemm() const { return gemm_; }

 private:
  std::int32_t number_of(const LtAlgorithm& algorithm, int attribute) const;

  const CublasLt* library_ = nullptr;
  LtGemm gemm_;
  LibraryHandle operation_, first_, second_, d_;
};

}  // namespace lehr::cublaslt
