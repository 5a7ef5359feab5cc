// The only file that names the driver's symbols, with their ABI version (cuMemAlloc_v2).
#include "measure/cuda/cuda_functions.h"

#include "measure/system/shared_library.h"

namespace lehr {

std::string_view find_cuda_functions(void* library, CudaDriver::Functions& f) {
  FunctionFinder find(library);
  find("cuInit", f.init);
  find("cuDriverGetVersion", f.driver_version);
  find("cuGetErrorName", f.error_name);
  find("cuGetErrorString", f.error_string);
  find("cuDeviceGetCount", f.device_count);
  find("cuDeviceGet", f.device_get);
  find("cuDeviceGetName", f.device_name);
  find("cuDeviceGetUuid", f.device_uuid);
  find("cuDeviceGetAttribute", f.device_attribute);
  find("cuDevicePrimaryCtxRetain", f.context_retain);
  find("cuDevicePrimaryCtxRelease_v2", f.context_release);
  find("cuCtxSetCurrent", f.context_set_current);
  find("cuMemAlloc_v2", f.memory_allocate);
  find("cuMemFree_v2", f.memory_free);
  find("cuMemcpyHtoD_v2", f.copy_to_device);
  find("cuMemcpyDtoH_v2", f.copy_to_host);
  find("cuMemsetD8_v2", f.fill);
  find("cuMemsetD8Async", f.fill_async);
  find("cuModuleLoadData", f.module_load);
  find("cuModuleUnload", f.module_unload);
  find("cuModuleGetFunction", f.module_function);
  find("cuFuncGetAttribute", f.function_attribute);
  find("cuFuncSetAttribute", f.set_function_attribute);
  find("cuLaunchKernelEx", f.launch);
  find("cuStreamCreate", f.stream_create);
  find("cuStreamDestroy_v2", f.stream_destroy);
  find("cuStreamSynchronize", f.stream_synchronize);
  find("cuStreamBeginCapture_v2", f.stream_begin_capture);
  find("cuStreamEndCapture", f.stream_end_capture);
  find("cuEventCreate", f.event_create);
  find("cuEventDestroy_v2", f.event_destroy);
  find("cuEventRecord", f.event_record);
  find("cuEventElapsedTime", f.event_elapsed);
  find("cuGraphInstantiateWithFlags", f.graph_instantiate);
  find("cuGraphDestroy", f.graph_destroy);
  find("cuGraphExecDestroy", f.graph_executable_destroy);
  find("cuGraphLaunch", f.graph_launch);
  find("cuTensorMapEncodeTiled", f.tensor_map_encode_tiled);
  find("cuTensorMapEncodeIm2col", f.tensor_map_encode_im2col);
  return find.missing();
}

}  // namespace lehr
