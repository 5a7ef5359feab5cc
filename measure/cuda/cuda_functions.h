// Internal to measure/cuda_driver: the driver's functions. Prototypes are written out here from the CUDA
// Driver API 13.0 manual, so that the build is the same with and without a toolkit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "measure/cuda/cuda_driver.h"

namespace lehr {

/// CUlaunchAttribute, of which one is used.
struct alignas(8) CudaLaunchAttribute {
  int id = 0;
  std::array<char, 4> pad{};
  union {
    std::array<char, 64> bytes{};
    int allowed;
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

struct CudaDriver::Functions {
  using Code = int;  ///< CUresult
  Code (*init)(unsigned) = nullptr;
  Code (*driver_version)(int*) = nullptr;
  Code (*error_name)(Code, const char**) = nullptr;
  Code (*error_string)(Code, const char**) = nullptr;
  Code (*device_count)(int*) = nullptr;
  Code (*device_get)(int*, int) = nullptr;
  Code (*device_name)(char*, int, int) = nullptr;
  Code (*device_uuid)(unsigned char*, int) = nullptr;
  Code (*device_attribute)(int*, int, int) = nullptr;
  Code (*context_retain)(void**, int) = nullptr;
  Code (*context_release)(int) = nullptr;
  Code (*context_set_current)(void*) = nullptr;
  Code (*memory_allocate)(CudaAddress*, std::size_t) = nullptr;
  Code (*memory_free)(CudaAddress) = nullptr;
  Code (*copy_to_device)(CudaAddress, const void*, std::size_t) = nullptr;
  Code (*copy_to_host)(void*, CudaAddress, std::size_t) = nullptr;
  Code (*fill)(CudaAddress, unsigned char, std::size_t) = nullptr;
  Code (*fill_async)(CudaAddress, unsigned char, std::size_t, void*) = nullptr;
  Code (*module_load)(void**, const void*) = nullptr;
  Code (*module_unload)(void*) = nullptr;
  Code (*module_function)(void**, void*, const char*) = nullptr;
  Code (*function_attribute)(int*, int, void*) = nullptr;
  Code (*set_function_attribute)(void*, int, int) = nullptr;
  Code (*launch)(const CudaLaunchConfig*, void*, void**, void**) = nullptr;
  Code (*stream_create)(void**, unsigned) = nullptr;
  Code (*stream_destroy)(void*) = nullptr;
  Code (*stream_synchronize)(void*) = nullptr;
  Code (*stream_begin_capture)(void*, int) = nullptr;
  Code (*stream_end_capture)(void*, void**) = nullptr;
  Code (*event_create)(void**, unsigned) = nullptr;
  Code (*event_destroy)(void*) = nullptr;
  Code (*event_record)(void*, void*) = nullptr;
  Code (*event_elapsed)(float*, void*, void*) = nullptr;
  Code (*graph_instantiate)(void**, void*, unsigned long long) = nullptr;
  Code (*graph_destroy)(void*) = nullptr;
  Code (*graph_executable_destroy)(void*) = nullptr;
  Code (*graph_launch)(void*, void*) = nullptr;
  Code (*tensor_map_encode_tiled)(void*, int, unsigned, void*, const std::uint64_t*, const std::uint64_t*,
                                  const unsigned*, const unsigned*, int, int, int, int) = nullptr;
  Code (*tensor_map_encode_im2col)(void*, int, unsigned, void*, const std::uint64_t*, const std::uint64_t*,
                                   const int*, const int*, unsigned, unsigned, const unsigned*, int, int, int,
                                   int) = nullptr;
};

/// Fills the table from a loaded library; answers the first missing name, or "".
std::string_view find_cuda_functions(void* library, CudaDriver::Functions& functions);

}  // namespace lehr
