// The only file that knows cuBLASLt's functions. Prototypes, attribute numbers and the layout of its result
// structure are written out here from the cuBLAS 13.0 manual, "Using the cuBLASLt API"; they are the same
// in 12.
#include "measure/vendor/cublaslt/cublaslt.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <utility>

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

struct CublasLt::Functions {
  Code (*create)(void**) = nullptr;
  Code (*destroy)(void*) = nullptr;
  std::size_t (*version)() = nullptr;
  const char* (*status_name)(Code) = nullptr;
  const char* (*status_string)(Code) = nullptr;
  Code (*operation_create)(void**, int, int) = nullptr;
  Code (*operation_set)(void*, int, const void*, std::size_t) = nullptr;
  Code (*operation_destroy)(void*) = nullptr;
  Code (*layout_create)(void**, int, std::uint64_t, std::uint64_t, std::int64_t) = nullptr;
  Code (*layout_set)(void*, int, const void*, std::size_t) = nullptr;
  Code (*layout_destroy)(void*) = nullptr;
  Code (*preference_create)(void**) = nullptr;
  Code (*preference_set)(void*, int, const void*, std::size_t) = nullptr;
  Code (*preference_destroy)(void*) = nullptr;
  Code (*heuristic)(void*, void*, void*, void*, void*, void*, void*, int, HeuristicResult*, int*) = nullptr;
  Code (*algorithm_get)(const void*, int, void*, std::size_t, std::size_t*) = nullptr;
  Code (*matmul)(void*, void*, const void*, const void*, void*, const void*, void*, const void*, const void*,
                 void*, void*, void*, const void*, void*, std::size_t, void*) = nullptr;
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

constexpr std::uint32_t kReduceInComputeType = 2;  // CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE
constexpr std::int32_t kOrderRow = 1;              // CUBLASLT_ORDER_ROW
constexpr std::int32_t kTransposed = 1;            // CUBLAS_OP_T

std::string_view find_all(void* library, CublasLt::Functions& f) {
  FunctionFinder find(library);
  find("cublasLtCreate", f.create);
  find("cublasLtDestroy", f.destroy);
  find("cublasLtGetVersion", f.version);
  find("cublasLtGetStatusName", f.status_name);
  find("cublasLtGetStatusString", f.status_string);
  find("cublasLtMatmulDescCreate", f.operation_create);
  find("cublasLtMatmulDescSetAttribute", f.operation_set);
  find("cublasLtMatmulDescDestroy", f.operation_destroy);
  find("cublasLtMatrixLayoutCreate", f.layout_create);
  find("cublasLtMatrixLayoutSetAttribute", f.layout_set);
  find("cublasLtMatrixLayoutDestroy", f.layout_destroy);
  find("cublasLtMatmulPreferenceCreate", f.preference_create);
  find("cublasLtMatmulPreferenceSetAttribute", f.preference_set);
  find("cublasLtMatmulPreferenceDestroy", f.preference_destroy);
  find("cublasLtMatmulAlgoGetHeuristic", f.heuristic);
  find("cublasLtMatmulAlgoConfigGetAttribute", f.algorithm_get);
  find("cublasLtMatmul", f.matmul);
  return find.missing();
}

/// The number one as the scale type has it, and zero behind it.
struct Scale {
  alignas(8) std::array<unsigned char, 8> one{};
  alignas(8) std::array<unsigned char, 8> zero{};
};

Scale scale_of(int data_type) {
  Scale scale;
  const auto put = [&scale](auto value) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(&value);
    std::copy(bytes, bytes + sizeof value, scale.one.begin());
  };
  switch (data_type) {  // cudaDataType
    case 0:
      put(1.0F);
      break;
    case 1:
      put(1.0);
      break;
    case 2:
      put(std::uint16_t{0x3C00});
      break;
    default:
      put(std::int32_t{1});
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
  if (const std::string_view missing = find_all(loaded.handle, *library->functions_); !missing.empty()) {
    why_not = fmt::format("{} has no function {}: install cuBLAS 12.0 or newer", library->path_, missing);
    return nullptr;
  }
  return library;
}

LtStatus CublasLt::start() {
  return {functions_->create(&handle_), "cublasLtCreate"};
}

std::string CublasLt::version() const {
  // 13.1.0 is 130100; up to 12, too: 12.4.5 is 120405.
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

LtMatmul::~LtMatmul() {
  if (!library_) return;
  const CublasLt::Functions& f = library_->functions();
  if (operation_) f.operation_destroy(operation_);
  for (void* layout : {first_, second_, d_}) {
    if (layout) f.layout_destroy(layout);
  }
}

void LtMatmul::swap(LtMatmul& other) {
  std::swap(library_, other.library_);
  std::swap(gemm_, other.gemm_);
  std::swap(operation_, other.operation_);
  std::swap(first_, other.first_);
  std::swap(second_, other.second_);
  std::swap(d_, other.d_);
}

LtStatus LtMatmul::describe(const CublasLt& library, const LtGemm& gemm) {
  *this = LtMatmul();
  library_ = &library;
  gemm_ = gemm;
  const CublasLt::Functions& f = library.functions();
  LtStatus status{f.operation_create(&operation_, gemm.compute, gemm.scale), "cublasLtMatmulDescCreate"};
  const auto set_operation = [&](int attribute, auto value) {
    if (status.ok())
      status = {f.operation_set(operation_, attribute, &value, sizeof value),
                "cublasLtMatmulDescSetAttribute"};
  };
  if (gemm.transpose_first) set_operation(kTransposeA, kTransposed);
  if (gemm.transpose_second) set_operation(kTransposeB, kTransposed);
  if (gemm.fast_accumulation) set_operation(kFastAccumulation, std::int8_t{1});
  const auto make_layout = [&](void*& layout, const LtMatrix& matrix) {
    if (!status.ok()) return;
    status = {f.layout_create(&layout, matrix.type, static_cast<std::uint64_t>(matrix.rows),
                              static_cast<std::uint64_t>(matrix.columns), matrix.leading),
              "cublasLtMatrixLayoutCreate"};
    const auto set = [&](int attribute, auto value) {
      if (status.ok())
        status = {f.layout_set(layout, attribute, &value, sizeof value), "cublasLtMatrixLayoutSetAttribute"};
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
  // As of our own kernels, sums are asked for that are rounded to a narrower output once, at their end.
  if (gemm_.d.type != gemm_.scale) set(kReductionSchemes, kReduceInComputeType);
  std::vector<HeuristicResult> results(static_cast<std::size_t>(count));
  int returned = 0;
  if (status.ok()) {
    status = {f.heuristic(library_->handle(), operation_, first_, second_, d_, d_, preference, count,
                          results.data(), &returned),
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
  const Scale scale = scale_of(gemm_.scale);
  return {library_->functions().matmul(library_->handle(), operation_, scale.one.data(), pointer(first),
                                       first_, pointer(second), second_, scale.zero.data(), pointer(d), d_,
                                       const_cast<void*>(pointer(d)), d_, algorithm.opaque.data(),
                                       const_cast<void*>(pointer(workspace)),
                                       static_cast<std::size_t>(algorithm.workspace_bytes), stream),
          "cublasLtMatmul"};
}

std::string LtMatmul::describe(const LtAlgorithm& algorithm) const {
  const auto get = [&](int attribute) {
    std::int32_t value = -1;
    std::size_t written = 0;
    library_->functions().algorithm_get(algorithm.opaque.data(), attribute, &value, sizeof value, &written);
    return value;
  };
  return fmt::format("algorithm {}, tile {}, split-K {}", get(kAlgorithmId), get(kTileId), get(kSplitK));
}

}  // namespace lehr::cublaslt
