// The part of the CUDA driver's API that Lehr uses: structs, numbers and prototypes. The code that measures
// kernels (measure/cuda) and the code of libraries that runs them (runtime) include it. It is written from
// the CUDA Driver API 13.0 manual, so that no build needs a toolkit. It includes only headers of the
// language, since libraries ship it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lehr {

/// An address on the device.
using CudaAddress = unsigned long long;

/// CUtensorMap: opaque, and passed to kernels by value.
struct alignas(64) CudaTensorMap {
  std::array<std::uint64_t, 16> words{};
};

/// Numbers of enum CUlaunchAttributeID.
inline constexpr int kCudaClusterDimension = 4, kCudaProgrammaticStreamSerialization = 6;

/// CUlaunchAttribute. Only two kinds of attributes are used.
struct alignas(8) CudaLaunchAttribute {
  int id = 0;
  std::array<char, 4> pad{};
  union {
    std::array<char, 64> bytes{};
    int allowed;
    std::array<unsigned, 3> cluster;
  };
};
/// CUlaunchConfig.
struct CudaLaunchConfig {
  std::array<unsigned, 3> grid{};
  std::array<unsigned, 3> block{};
  unsigned shared_bytes = 0;
  void* stream = nullptr;
  const CudaLaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};

/// Numbers of enum CUdevice_attribute.
enum class CudaAttribute : int {
  kMaxThreadsPerBlock = 1,
  kSharedBytesPerBlock = 8,
  kWarpSize = 10,
  kClockKHz = 13,
  kMultiprocessors = 16,
  kMemoryClockKHz = 36,
  kMemoryBusBits = 37,
  kL2Bytes = 38,
  kMaxThreadsPerMultiprocessor = 39,
  kCapabilityMajor = 75,
  kCapabilityMinor = 76,
  kSharedBytesPerMultiprocessor = 81,
  kRegistersPerMultiprocessor = 82,
  kSharedBytesPerBlockOptIn = 97,
  kMaxBlocksPerMultiprocessor = 106,
  kReservedSharedBytesPerBlock = 111,
};
/// Numbers of enum CUfunction_attribute.
enum class CudaFunctionAttribute : int {
  kMaxThreadsPerBlock = 0,
  kStaticSharedBytes = 1,
  kLocalBytes = 3,
  kRegisters = 4,
  kMaxDynamicSharedBytes = 8,
};
/// A kernel must request dynamic shared memory above this number of bytes (CUDA C++ Programming Guide 13.0,
/// "Shared Memory" of 8.x).
inline constexpr std::int64_t kCudaDefaultSharedBytes = 48 * 1024;

/// A tensor map without its address: the arguments of cuTensorMapEncodeTiled or, if `im2col`, of
/// cuTensorMapEncodeIm2col, in the driver's form. Dimensions are innermost first.
struct CudaTensorMapArguments {
  static constexpr std::size_t kMaxRank = 4;
  bool im2col = false;
  int type = 0;  ///< enum CUtensorMapDataType
  unsigned rank = 0;
  std::array<std::uint64_t, kMaxRank> dims{};
  /// Strides of all dimensions but the innermost, so one fewer.
  std::array<std::uint64_t, kMaxRank> stride_bytes{};
  std::array<unsigned, kMaxRank> box{};    ///< box of a tiled map
  std::array<unsigned, kMaxRank> steps{};  ///< elementStrides
  unsigned channels = 0, pixels = 0;       ///< sizes of an im2col map; its corners are given as w, h
  std::array<int, 2> lower{}, upper{};
  int swizzle = 0;  ///< enum CUtensorMapSwizzle
};

using CudaCode = int;  ///< CUresult
using CudaEncodeTiled = CudaCode(void*, int, unsigned, void*, const std::uint64_t*, const std::uint64_t*,
                                 const unsigned*, const unsigned*, int, int, int, int);
using CudaEncodeIm2col = CudaCode(void*, int, unsigned, void*, const std::uint64_t*, const std::uint64_t*,
                                  const int*, const int*, unsigned, unsigned, const unsigned*, int, int, int,
                                  int);
using CudaLaunchKernelEx = CudaCode(const CudaLaunchConfig*, void*, void**, void**);
using CudaOccupancyMaxActiveClusters = CudaCode(int*, void*, const CudaLaunchConfig*);

/// Encodes a map of these arguments at `address` and returns the driver's code.
inline CudaCode cuda_encode(CudaEncodeTiled* tiled, CudaEncodeIm2col* of_images,
                            const CudaTensorMapArguments& map, void* address, CudaTensorMap& result) {
  constexpr int kNoInterleave = 0;     // CU_TENSOR_MAP_INTERLEAVE_NONE
  constexpr int kPromotionL2_256 = 3;  // CU_TENSOR_MAP_L2_PROMOTION_L2_256B
  constexpr int kFillWithZeros = 0;    // CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE
  if (map.im2col)
    return of_images(&result, map.type, map.rank, address, map.dims.data(), map.stride_bytes.data(),
                     map.lower.data(), map.upper.data(), map.channels, map.pixels, map.steps.data(),
                     kNoInterleave, map.swizzle, kPromotionL2_256, kFillWithZeros);
  return tiled(&result, map.type, map.rank, address, map.dims.data(), map.stride_bytes.data(), map.box.data(),
               map.steps.data(), kNoInterleave, map.swizzle, kPromotionL2_256, kFillWithZeros);
}

}  // namespace lehr
