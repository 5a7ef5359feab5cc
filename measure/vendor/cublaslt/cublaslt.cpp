// The only file that knows cuBLASLt's functions. Prototypes, attribute numbers and the layout of the
// heuristic's result are taken from the cuBLAS 13.0 manual, "Using the cuBLASLt API". They are the same in
// version 12.
#include "measure/vendor/cublaslt/cublaslt.h"

#include <fmt/core.h>

#include <cstring>
#include <filesystem>
#include <utility>

#include "base/small_float.h"
#include "measure/system/shared_library.h"

namespace lehr::cublaslt {

using Code = int;

namespace {

/// cublasLtMatmulHeuristicResult_t.
struct HeuristicResult {
  std::array<std::uint64_t, 8> algorithm;
  std::size_t workspace_bytes;
  Code state;
  float waves;
  int reserved[4];
};
static_assert(sizeof(HeuristicResult) == 96);

}  // namespace

struct CublasLt::Functions : LibraryFunctions {
  Function<Code(void**)> create{this, "cublasLtCreate"};
  Function<Code(void*)> destroy{this, "cublasLtDestroy"};
  Function<std::size_t()> version{this, "cublasLtGetVersion"};
  Function<const char*(Code)> status_name{this, "cublasLtGetStatusName"};
  Function<const char*(Code)> status_string{this, "cublasLtGetStatusString"};
  Function<Code(void**, int, int)> operation_create{this, "cublasLtMatmulDescCreate"};
  Function<Code(void*, int, const void*, std::size_t)> operation_set{this, "cublasLtMatmulDescSetAttribute"};
  Function<Code(void*)> operation_destroy{this, "cublasLtMatmulDescDestroy"};
  Function<Code(void**, int, std::uint64_t, std::uint64_t, std::int64_t)> layout_create{
      this, "cublasLtMatrixLayoutCreate"};
  Function<Code(void*, int, const void*, std::size_t)> layout_set{this, "cublasLtMatrixLayoutSetAttribute"};
  Function<Code(void*)> layout_destroy{this, "cublasLtMatrixLayoutDestroy"};
  Function<Code(void**)> preference_create{this, "cublasLtMatmulPreferenceCreate"};
  Function<Code(void*, int, const void*, std::size_t)> preference_set{this,
                                                                      "cublasLtMatmulPreferenceSetAttribute"};
  Function<Code(void*)> preference_destroy{this, "cublasLtMatmulPreferenceDestroy"};
  Function<Code(void*, void*, void*, void*, void*, void*, void*, int, HeuristicResult*, int*)> heuristic{
      this, "cublasLtMatmulAlgoGetHeuristic"};
  Function<Code(const void*, int, void*, std::size_t, std::size_t*)> algorithm_get{
      this, "cublasLtMatmulAlgoConfigGetAttribute"};
  Function<Code(void*, void*, const void*, const void*, void*, const void*, void*, const void*, const void*,
                void*, void*, void*, const void*, void*, std::size_t, void*)>
      matmul{this, "cublasLtMatmul"};
};

namespace {

// cublasLtMatmulDescAttributes_t
constexpr int kTransposeA = 3;
constexpr int kTransposeB = 4;
constexpr int kFastAccumulation = 25;
// cublasLtMatrixLayoutAttribute_t
constexpr int kOrder = 1;
constexpr int kBatchCount = 5;
constexpr int kBatchStride = 6;
// cublasLtMatmulPreferenceAttributes_t
constexpr int kMaxWorkspace = 1;
constexpr int kReductionSchemes = 3;
constexpr int kFirstAlignment = 5;  // ..._MIN_ALIGNMENT_A_BYTES, then B, C, D
constexpr int kLastAlignment = 8;
// cublasLtMatmulAlgoConfigAttributes_t
constexpr int kAlgorithmId = 0;
constexpr int kTileId = 1;
constexpr int kSplitK = 2;
constexpr int kStagesId = 6;  // after the reduction scheme, the order of blocks and an option

constexpr std::uint32_t kReduceInComputeType = 2;  // CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE
constexpr std::int32_t kOrderRow = 1;              // CUBLASLT_ORDER_ROW
constexpr std::int32_t kTransposed = 1;            // CUBLAS_OP_T

/// A product's scale in the scale type, followed by a zero.
struct Scale {
  alignas(8) std::array<unsigned char, 8> alpha{};
  alignas(8) std::array<unsigned char, 8> zero{};
};

Scale scale_of(const LtGemm& gemm) {
  Scale scale;
  const auto put = [&scale](auto value) { std::memcpy(scale.alpha.data(), &value, sizeof value); };
  switch (gemm.scale) {  // cudaDataType
    case 0:
      put(gemm.alpha);
      break;
    case 1:
      put(double{gemm.alpha});
      break;
    case 2:
      put(to_f16(gemm.alpha));
      break;
    default:
      put(static_cast<std::int32_t>(gemm.alpha));
  }
  return scale;
}

const void* pointer(CudaAddress address) {
  return reinterpret_cast<const void*>(address);
}

}  // namespace

CublasLt::CublasLt() = default;

CublasLt::~CublasLt() {
  if (handle_) functions_->destroy(handle_);
}

std::unique_ptr<CublasLt> CublasLt::open(std::span<const std::string> paths, std::string& why_not) {
  std::unique_ptr<CublasLt> library(new CublasLt());
  const SharedLibrary loaded = load_library(paths);  // never closed: its kernels may outlive this value
  library->path_ = loaded.path;
  if (!loaded) {
    why_not =
        "libcublasLt.so.13 (or .12) was not found: install the CUDA toolkit's cuBLAS (Debian and Ubuntu: "
        "libcublas-13-0, pip: nvidia-cublas) and name its directory in LD_LIBRARY_PATH to compare with it";
    return nullptr;
  }
  library->functions_ = std::make_unique<Functions>();
  if (const std::string_view missing = library->functions_->find(loaded.handle); !missing.empty()) {
    why_not = fmt::format("{} has no function {}: install cuBLAS 12.0 or newer", library->path_, missing);
    return nullptr;
  }
  return library;
}

LtStatus CublasLt::start() {
  return {functions_->create(&handle_), "cublasLtCreate"};
}

std::string CublasLt::version() const {
  // 13.1.0 is 130100; the same holds for 12: 12.4.5 is 120405.
  const std::size_t version = functions_->version();
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

std::string CublasLt::text_of(LtStatus status) const {
  return fmt::format("{} ({}) from {}", functions_->status_name(status.code),
                     functions_->status_string(status.code), status.call);
}

std::vector<std::string> cublaslt_paths(std::span<const std::string> folders) {
  std::error_code ignored;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  std::vector<std::string> prefixes = {own.string() + "/", own.string() + "/../lib/", ""};
  for (const std::string& folder : folders) prefixes.push_back(folder + "/");
  prefixes.insert(prefixes.end(), {"/usr/local/cuda/lib64/", "/usr/local/cuda/targets/x86_64-linux/lib/",
                                   "/usr/local/cuda-13/lib64/", "/usr/local/cuda-12/lib64/"});
  std::vector<std::string> paths;
  for (const std::string& prefix : prefixes)
    for (const char* name : {"libcublasLt.so.13", "libcublasLt.so.12"}) paths.push_back(prefix + name);
  return paths;
}

LtStatus LtMatmul::describe(const CublasLt& library, const LtGemm& gemm) {
  *this = LtMatmul();
  library_ = &library;
  gemm_ = gemm;
  const CublasLt::Functions& f = library.functions();
  void* made = nullptr;
  LtStatus status{f.operation_create(&made, gemm.compute, gemm.scale), "cublasLtMatmulDescCreate"};
  if (status.ok()) operation_ = LibraryHandle(made, {f.operation_destroy});
  const auto set_operation = [&](int attribute, auto value) {
    if (status.ok())
      status = {f.operation_set(operation_.get(), attribute, &value, sizeof value),
                "cublasLtMatmulDescSetAttribute"};
  };
  if (gemm.transpose_first) set_operation(kTransposeA, kTransposed);
  if (gemm.transpose_second) set_operation(kTransposeB, kTransposed);
  if (gemm.fast_accumulation) set_operation(kFastAccumulation, std::int8_t{1});
  const auto make_layout = [&](LibraryHandle& layout, const LtMatrix& matrix) {
    if (!status.ok()) return;
    status = {f.layout_create(&made, matrix.type, static_cast<std::uint64_t>(matrix.rows),
                              static_cast<std::uint64_t>(matrix.columns), matrix.leading),
              "cublasLtMatrixLayoutCreate"};
    if (status.ok()) layout = LibraryHandle(made, {f.layout_destroy});
    const auto set = [&](int attribute, auto value) {
      if (status.ok())
        status = {f.layout_set(layout.get(), attribute, &value, sizeof value),
                  "cublasLtMatrixLayoutSetAttribute"};
    };
    if (gemm.row_order) set(kOrder, kOrderRow);
    if (gemm.batch > 1) {
      set(kBatchCount, static_cast<std::int32_t>(gemm.batch));
      set(kBatchStride, matrix.stride);
    }
  };
  make_layout(first_, gemm.first);
  make_layout(second_, gemm.second);
  make_layout(d_, gemm.d);
  return status;
}

LtStatus LtMatmul::heuristics(std::int64_t workspace_bytes, int count, std::uint32_t alignment,
                              std::vector<LtAlgorithm>& found) const {
  found.clear();
  const CublasLt::Functions& f = library_->functions();
  void* preference = nullptr;
  LtStatus status{f.preference_create(&preference), "cublasLtMatmulPreferenceCreate"};
  if (!status.ok()) return status;
  const auto set = [&](int attribute, auto value) {
    if (status.ok())
      status = {f.preference_set(preference, attribute, &value, sizeof value),
                "cublasLtMatmulPreferenceSetAttribute"};
  };
  set(kMaxWorkspace, static_cast<std::uint64_t>(workspace_bytes));
  for (int attribute = kFirstAlignment; attribute <= kLastAlignment; ++attribute) set(attribute, alignment);
  // As in our own kernels, sums are rounded to a narrower output type once, at the end.
  if (gemm_.d.type != gemm_.scale) set(kReductionSchemes, kReduceInComputeType);
  std::vector<HeuristicResult> results(static_cast<std::size_t>(count));
  int returned = 0;
  if (status.ok()) {
    status = {f.heuristic(library_->handle(), operation_.get(), first_.get(), second_.get(), d_.get(),
                          d_.get(), preference, count, results.data(), &returned),
              "cublasLtMatmulAlgoGetHeuristic"};
  }
  f.preference_destroy(preference);
  if (!status.ok()) return status;
  for (int i = 0; i < returned; ++i) {
    const HeuristicResult& result = results[static_cast<std::size_t>(i)];
    if (result.state == 0)
      found.push_back({result.algorithm, static_cast<std::int64_t>(result.workspace_bytes)});
  }
  return status;
}

LtStatus LtMatmul::run(const LtAlgorithm& algorithm, CudaAddress first, CudaAddress second, CudaAddress d,
                       CudaAddress workspace, void* stream) const {
  const Scale scale = scale_of(gemm_);
  return {
      library_->functions().matmul(library_->handle(), operation_.get(), scale.alpha.data(), pointer(first),
                                   first_.get(), pointer(second), second_.get(), scale.zero.data(),
                                   pointer(d), d_.get(), const_cast<void*>(pointer(d)), d_.get(),
                                   algorithm.opaque.data(), const_cast<void*>(pointer(workspace)),
                                   static_cast<std::size_t>(algorithm.workspace_bytes), stream),
      "cublasLtMatmul"};
}

std::int32_t LtMatmul::number_of(const LtAlgorithm& algorithm, int attribute) const {
  std::int32_t value = -1;
  std::size_t written = 0;
  library_->functions().algorithm_get(algorithm.opaque.data(), attribute, &value, sizeof value, &written);
  return value;
}

std::string LtMatmul::describe(const LtAlgorithm& algorithm) const {
  return fmt::format("algorithm {}, tile {}, split-K {}", number_of(algorithm, kAlgorithmId),
                     number_of(algorithm, kTileId), number_of(algorithm, kSplitK));
}

std::string LtMatmul::numbers_of(const LtAlgorithm& algorithm) const {
  std::string text;
  for (int attribute = kAlgorithmId; attribute <= kStagesId; ++attribute)
    text += fmt::format("{}{}", text.empty() ? "" : " ", number_of(algorithm, attribute));
  return text;
}

}  // namespace lehr::cublaslt
