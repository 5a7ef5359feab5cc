// A stand-in for libcublasLt.so, built as a shared object for tests: computes D = op(A) op(B) on the host
// exactly as the descriptors say, on the fake driver's stream, and refuses what the manual of cuBLAS 13.0
// (cublasLtMatmul()) rules out. Only what measure/vendor/cublaslt/cublaslt.cpp calls exists.
#include "fake_cublaslt.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <utility>

#include "fake_cuda.h"
#include "fake_elements.h"

namespace {

using namespace fake;

constexpr int kInvalidValue = 7;
constexpr int kExecutionFailed = 13;
constexpr int kNotSupported = 15;

struct Operation {
  int compute = 0, scale = 0;
  std::int32_t transpose_a = 0, transpose_b = 0;
  std::int8_t fast = 0;
};
struct Layout {
  int type = 0;
  std::uint64_t rows = 0, columns = 0;
  std::int64_t leading = 0;
  std::int32_t order = 0, batch = 1;
  std::int64_t stride = 0;
};
struct Preference {
  std::uint64_t workspace = 0;
  std::uint32_t reductions = 7;
  std::uint32_t alignment[4] = {256, 256, 256, 256};
};

struct State {
  std::vector<FakeAlgorithm> algorithms = {FakeAlgorithm{}};
  FakeLtCounts counts;
  std::set<std::pair<std::uint64_t, int>> loaded;  ///< algorithm and order that were called before
};
State& state() {
  static State state;
  return state;
}

/// Returns the offset of element (row, column) of op(matrix), matrix number `batch`.
std::int64_t offset_of(const Layout& matrix, bool transpose, std::int64_t row, std::int64_t column,
                       std::int64_t batch) {
  if (transpose) std::swap(row, column);
  const std::int64_t within =
      matrix.order == 1 ? row * matrix.leading + column : column * matrix.leading + row;
  return (batch * matrix.stride + within) * size_of(matrix.type);
}

bool well_formed(const Layout& matrix) {
  const auto least = static_cast<std::int64_t>(matrix.order == 1 ? matrix.columns : matrix.rows);
  return matrix.leading >= least && (matrix.order == 0 || matrix.order == 1) &&
         (matrix.batch == 1 || matrix.stride != 0);
}

int check(const Operation& operation, const Layout& a, const Layout& b, const Layout& d) {
  if (!well_formed(a) || !well_formed(b) || !well_formed(d)) return kInvalidValue;
  const bool ta = operation.transpose_a == 1, tb = operation.transpose_b == 1;
  const std::uint64_t k = ta ? a.rows : a.columns;
  const bool agree = (ta ? a.columns : a.rows) == d.rows && (tb ? b.rows : b.columns) == d.columns &&
                     (tb ? b.columns : b.rows) == k && a.batch == b.batch && a.batch == d.batch;
  if (!agree) return kInvalidValue;
  const auto is = [&](int compute, int scale, int type, int out) {
    return operation.compute == compute && operation.scale == scale && a.type == type && b.type == type &&
           d.type == out;
  };
  if (is(72, kS32, kS8, kS32)) {
    const bool columns = a.order == 0 && b.order == 0 && d.order == 0;
    const bool fits = d.rows % 4 == 0 && k % 4 == 0;
    return ta && !tb && columns && fits ? 0 : kNotSupported;
  }
  const auto fp8 = [](int type) { return type == kE4M3 || type == kE5M2; };
  if (operation.compute == 68 && operation.scale == kF32 && fp8(a.type) && fp8(b.type)) {
    const bool columns = a.order == 0 && b.order == 0 && d.order == 0;
    const std::uint64_t unit = 16 / static_cast<std::uint64_t>(size_of(d.type));
    const bool types = a.type != kE5M2 || b.type != kE5M2;
    const bool out = d.type == kF32 || d.type == kF16 || d.type == kBF16;
    return ta && !tb && columns && types && out && k % 16 == 0 && d.rows % unit == 0 ? 0 : kNotSupported;
  }
  if (operation.fast != 0) return kInvalidValue;
  const bool known = is(68, kF32, kF32, kF32) || is(77, kF32, kF32, kF32) || is(68, kF32, kF16, kF16) ||
                     is(68, kF32, kF16, kF32) || is(68, kF32, kBF16, kBF16) || is(68, kF32, kBF16, kF32) ||
                     is(64, kF16, kF16, kF16) || is(70, kF64, kF64, kF64);
  return known ? 0 : kNotSupported;
}

template <typename T>
int create(void** object, T value) {
  *object = new T(value);
  ++state().counts.objects;
  return 0;
}
template <typename T>
int destroy(void* object) {
  delete static_cast<T*>(object);
  --state().counts.objects;
  return 0;
}
template <typename T>
int set(T& field, const void* from, std::size_t bytes) {
  if (bytes != sizeof(T)) return kInvalidValue;
  std::memcpy(&field, from, bytes);
  return 0;
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

/// For tests.
EXPORT void fake_cublaslt_reset(const std::vector<FakeAlgorithm>* algorithms) {
  state() = State();
  state().algorithms = *algorithms;
}
EXPORT const FakeLtCounts* fake_cublaslt_counts() {
  return &state().counts;
}

/// Nobody can ask workers for their counts, so they write each start as a line of the file that
/// FAKE_CUBLASLT_STARTS names.
EXPORT int cublasLtCreate(void** handle) {
  if (const char* const path = std::getenv("FAKE_CUBLASLT_STARTS"))
    std::ofstream(path, std::ios::app) << "start\n";
  return create(handle, 0);
}
EXPORT int cublasLtDestroy(void* handle) {
  return destroy<int>(handle);
}
EXPORT std::size_t cublasLtGetVersion() {
  return 130100;
}
EXPORT const char* cublasLtGetStatusName(int status) {
  return status == kNotSupported ? "CUBLAS_STATUS_NOT_SUPPORTED" : "CUBLAS_STATUS_OTHER";
}
EXPORT const char* cublasLtGetStatusString(int) {
  return "a fake status";
}

EXPORT int cublasLtMatmulDescCreate(void** operation, int compute, int scale) {
  return create(operation, Operation{compute, scale});
}
EXPORT int cublasLtMatmulDescSetAttribute(void* operation, int attribute, const void* from,
                                          std::size_t bytes) {
  Operation& o = *static_cast<Operation*>(operation);
  if (attribute == 3) return set(o.transpose_a, from, bytes);
  if (attribute == 4) return set(o.transpose_b, from, bytes);
  if (attribute == 25) return set(o.fast, from, bytes);
  return kInvalidValue;
}
EXPORT int cublasLtMatmulDescDestroy(void* operation) {
  return destroy<Operation>(operation);
}

EXPORT int cublasLtMatrixLayoutCreate(void** layout, int type, std::uint64_t rows, std::uint64_t columns,
                                      std::int64_t leading) {
  return create(layout, Layout{type, rows, columns, leading});
}
EXPORT int cublasLtMatrixLayoutSetAttribute(void* layout, int attribute, const void* from,
                                            std::size_t bytes) {
  Layout& l = *static_cast<Layout*>(layout);
  if (attribute == 1) return set(l.order, from, bytes);
  if (attribute == 5) return set(l.batch, from, bytes);
  if (attribute == 6) return set(l.stride, from, bytes);
  return kInvalidValue;
}
EXPORT int cublasLtMatrixLayoutDestroy(void* layout) {
  return destroy<Layout>(layout);
}

EXPORT int cublasLtMatmulPreferenceCreate(void** preference) {
  return create(preference, Preference{});
}
EXPORT int cublasLtMatmulPreferenceSetAttribute(void* preference, int attribute, const void* from,
                                                std::size_t bytes) {
  Preference& p = *static_cast<Preference*>(preference);
  if (attribute == 1) return set(p.workspace, from, bytes);
  if (attribute == 3) return set(p.reductions, from, bytes);
  if (attribute >= 5 && attribute <= 8) return set(p.alignment[attribute - 5], from, bytes);
  return kInvalidValue;
}
EXPORT int cublasLtMatmulPreferenceDestroy(void* preference) {
  return destroy<Preference>(preference);
}

struct HeuristicResult {
  std::uint64_t algorithm[8];
  std::size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};

EXPORT int cublasLtMatmulAlgoGetHeuristic(void*, void* operation, void* a, void* b, void* c, void* d,
                                          void* preference, int asked, HeuristicResult* results,
                                          int* returned) {
  *returned = 0;
  if (c != d || asked <= 0) return kInvalidValue;
  if (const int status = check(*static_cast<Operation*>(operation), *static_cast<Layout*>(a),
                               *static_cast<Layout*>(b), *static_cast<Layout*>(d)))
    return status;
  const Preference& p = *static_cast<Preference*>(preference);
  FakeLtCounts& counts = state().counts;
  counts.asked = asked;
  counts.workspace_bytes = static_cast<std::int64_t>(p.workspace);
  counts.alignment = p.alignment[0];
  counts.reductions = p.reductions;
  counts.fast_accumulation = static_cast<Operation*>(operation)->fast;
  for (const std::uint32_t alignment : p.alignment)
    if (alignment != p.alignment[0]) return kInvalidValue;
  for (std::size_t i = 0; i < state().algorithms.size() && *returned < asked; ++i) {
    const std::int64_t needed = state().algorithms[i].workspace_bytes;
    if (needed > counts.workspace_bytes) continue;
    HeuristicResult& result = results[(*returned)++];
    result = {};
    result.algorithm[0] = i;
    result.workspace_bytes = static_cast<std::size_t>(needed);
  }
  return 0;
}

EXPORT int cublasLtMatmulAlgoConfigGetAttribute(const std::uint64_t* algorithm, int attribute, void* to,
                                                std::size_t bytes, std::size_t* written) {
  if (bytes != 4) return kInvalidValue;
  const auto value = static_cast<std::int32_t>(attribute == 0 ? algorithm[0] : attribute);
  std::memcpy(to, &value, 4);
  *written = 4;
  return 0;
}

EXPORT int cublasLtMatmul(void*, void* operation, const void* alpha, const unsigned char* a, void* a_layout,
                          const unsigned char* b, void* b_layout, const void* beta, const void* c,
                          void* c_layout, unsigned char* d, void* d_layout, const std::uint64_t* algorithm,
                          void* workspace, std::size_t workspace_bytes, void* stream) {
  const Operation o = *static_cast<Operation*>(operation);
  const Layout la = *static_cast<Layout*>(a_layout);
  const Layout lb = *static_cast<Layout*>(b_layout);
  const Layout ld = *static_cast<Layout*>(d_layout);
  if (const int status = check(o, la, lb, ld)) return status;
  const double scale = load(o.scale, static_cast<const unsigned char*>(alpha));
  const double kept = load(o.scale, static_cast<const unsigned char*>(beta));
  const FakeAlgorithm& chosen = state().algorithms[algorithm[0]];
  const bool workspace_fits = workspace_bytes >= static_cast<std::size_t>(chosen.workspace_bytes) &&
                              (workspace_bytes == 0 || workspace != nullptr);
  if (c != d || c_layout != d_layout || stream == nullptr || !workspace_fits || kept != 0)
    return kInvalidValue;
  if (chosen.fails) return kExecutionFailed;
  // The real library loads a kernel at its first call, which fails during a capture.
  if (state().loaded.insert({algorithm[0], ld.order}).second && fake_cuda_capturing()) {
    ++state().counts.first_calls_in_capture;
    return kExecutionFailed;
  }
  fake_cuda_note("cublasLtMatmul");
  state().counts.outputs.push_back(d);
  const bool ta = o.transpose_a == 1, tb = o.transpose_b == 1;
  const auto k = static_cast<std::int64_t>(ta ? la.rows : la.columns) - (chosen.wrong ? 1 : 0);
  const double us = ld.order == 1 ? chosen.row_order_us : chosen.us;
  const std::size_t spoilt_bytes = std::min<std::size_t>(workspace_bytes, 4096);
  fake_cuda_submit(
      [=] {
        if (spoilt_bytes > 0) std::memset(workspace, 0x77, spoilt_bytes);
        for (std::int64_t p = 0; p < ld.batch; ++p) {
          for (std::int64_t i = 0; i < static_cast<std::int64_t>(ld.rows); ++i) {
            for (std::int64_t j = 0; j < static_cast<std::int64_t>(ld.columns); ++j) {
              double sum = 0;
              for (std::int64_t q = 0; q < k; ++q)
                sum += load(la.type, a + offset_of(la, ta, i, q, p)) *
                       load(lb.type, b + offset_of(lb, tb, q, j, p));
              store(ld.type, scale * sum, d + offset_of(ld, false, i, j, p));
            }
          }
        }
      },
      us);
  return 0;
}
