// The functions of the CUDA driver that the example calls, declared by hand, so that it builds without a
// toolkit. A program with CUDA's headers includes them, and may use the runtime's calls as well.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <type_traits>

using Address = unsigned long long;  // CUdeviceptr

struct Driver {
  int (*init)(unsigned);
  int (*device_get)(int*, int);
  int (*context_retain)(void**, int);
  int (*context_set)(void*);
  int (*allocate)(Address*, std::size_t);
  int (*release)(Address);
  int (*fill)(Address, unsigned char, std::size_t);
  int (*to_device)(Address, const void*, std::size_t);
  int (*to_host)(void*, Address, std::size_t);
  int (*stream_create)(void**, unsigned);
  int (*begin_capture)(void*, int);
  int (*end_capture)(void*, void**);
  int (*instantiate)(void**, void*, unsigned long long);
  int (*graph_launch)(void*, void*);
  int (*synchronize)(void*);

  Driver() {
    void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      std::fprintf(stderr, "there is no CUDA driver\n");
      std::exit(1);
    }
    const auto find = [library](auto*& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      if (function == nullptr) {
        std::fprintf(stderr, "the CUDA driver has no %s\n", name);
        std::exit(1);
      }
    };
    find(init, "cuInit");
    find(device_get, "cuDeviceGet");
    find(context_retain, "cuDevicePrimaryCtxRetain");
    find(context_set, "cuCtxSetCurrent");
    find(allocate, "cuMemAlloc_v2");
    find(release, "cuMemFree_v2");
    find(fill, "cuMemsetD8_v2");
    find(to_device, "cuMemcpyHtoD_v2");
    find(to_host, "cuMemcpyDtoH_v2");
    find(stream_create, "cuStreamCreate");
    find(begin_capture, "cuStreamBeginCapture_v2");
    find(end_capture, "cuStreamEndCapture");
    find(instantiate, "cuGraphInstantiateWithFlags");
    find(graph_launch, "cuGraphLaunch");
    find(synchronize, "cuStreamSynchronize");
  }
};

inline void check(int code) {
  if (code != 0) {
    std::fprintf(stderr, "the CUDA driver answers %d\n", code);
    std::exit(1);
  }
}
