// Internal to measure/cuda: the driver's functions, with their ABI version (cuMemAlloc_v2). The prototypes
// here and in runtime/cuda_api.h are declared by hand from the CUDA Driver API 13.0 manual, so that the build
// is the same with and without a toolkit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "measure/cuda/cuda_driver.h"
#include "measure/system/shared_library.h"
#include "runtime/cuda_api.h"

namespace lehr {

struct CudaDriver::Functions : LibraryFunctions {
  using Code = CudaCode;
  Function<Code(unsigned)> init{this, "cuInit"};
  Function<Code(int*)> driver_version{this, "cuDriverGetVersion"};
  Function<Code(Code, const char**)> error_name{this, "cuGetErrorName"};
  Function<Code(Code, const char**)> error_string{this, "cuGetErrorString"};
  Function<Code(int*)> device_count{this, "cuDeviceGetCount"};
  Function<Code(int*, int)> device_get{this, "cuDeviceGet"};
  Function<Code(char*, int, int)> device_name{this, "cuDeviceGetName"};
  Function<Code(unsigned char*, int)> device_uuid{this, "cuDeviceGetUuid"};
  Function<Code(int*, int, int)> device_attribute{this, "cuDeviceGetAttribute"};
  Function<Code(void**, int)> context_retain{this, "cuDevicePrimaryCtxRetain"};
  Function<Code(int)> context_release{this, "cuDevicePrimaryCtxRelease_v2"};
  Function<Code(void*)> context_set_current{this, "cuCtxSetCurrent"};
  Function<Code(CudaAddress*, std::size_t)> memory_allocate{this, "cuMemAlloc_v2"};
  Function<Code(CudaAddress)> memory_free{this, "cuMemFree_v2"};
  Function<Code(CudaAddress, const void*, std::size_t)> copy_to_device{this, "cuMemcpyHtoD_v2"};
  Function<Code(void*, CudaAddress, std::size_t)> copy_to_host{this, "cuMemcpyDtoH_v2"};
  Function<Code(CudaAddress, unsigned char, std::size_t)> fill{this, "cuMemsetD8_v2"};
  Function<Code(CudaAddress, unsigned char, std::size_t, void*)> fill_async{this, "cuMemsetD8Async"};
  Function<Code(void**, const void*)> module_load{this, "cuModuleLoadData"};
  Function<Code(void*)> module_unload{this, "cuModuleUnload"};
  Function<Code(void**, void*, const char*)> module_function{this, "cuModuleGetFunction"};
  Function<Code(int*, int, void*)> function_attribute{this, "cuFuncGetAttribute"};
  Function<Code(void*, int, int)> set_function_attribute{this, "cuFuncSetAttribute"};
  Function<CudaLaunchKernelEx> launch{this, "cuLaunchKernelEx"};
  CudaOccupancyMaxActiveClusters* occupancy_max_active_clusters = nullptr;  ///< missing before 11.8
  Function<Code(void**, unsigned)> stream_create{this, "cuStreamCreate"};
  Function<Code(void*)> stream_destroy{this, "cuStreamDestroy_v2"};
  Function<Code(void*)> stream_synchronize{this, "cuStreamSynchronize"};
  Function<Code(void*, int)> stream_begin_capture{this, "cuStreamBeginCapture_v2"};
  Function<Code(void*, void**)> stream_end_capture{this, "cuStreamEndCapture"};
  Function<Code(void**, unsigned)> event_create{this, "cuEventCreate"};
  Function<Code(void*)> event_destroy{this, "cuEventDestroy_v2"};
  Function<Code(void*, void*)> event_record{this, "cuEventRecord"};
  Function<Code(float*, void*, void*)> event_elapsed{this, "cuEventElapsedTime"};
  Function<Code(void**, void*, unsigned long long)> graph_instantiate{this, "cuGraphInstantiateWithFlags"};
  Function<Code(void*)> graph_destroy{this, "cuGraphDestroy"};
  Function<Code(void*)> graph_executable_destroy{this, "cuGraphExecDestroy"};
  Function<Code(void*, void*)> graph_upload{this, "cuGraphUpload"};
  Function<Code(void*, void*)> graph_launch{this, "cuGraphLaunch"};
  Function<CudaEncodeTiled> tensor_map_encode_tiled{this, "cuTensorMapEncodeTiled"};
  Function<CudaEncodeIm2col> tensor_map_encode_im2col{this, "cuTensorMapEncodeIm2col"};
};

}  // namespace lehr
