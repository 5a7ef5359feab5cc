// A stand-in for libcuda.so.1, built as a shared object for tests: device memory is host memory, a "cubin" is
// a text file whose kernels are known here by name, and every call is written down in order. Only what
// measure/cuda/cuda_driver.cpp, measure/cuda/nvml.cpp and runtime/driver.cpp call exists.
#include "fake_check_kernels.h"
#include "fake_cuda.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

constexpr int kOutOfMemory = 2;
constexpr int kInvalidImage = 200;
constexpr int kInvalidDevice = 101;
constexpr int kNoBinaryForGpu = 209;
constexpr int kNotFound = 500;
constexpr int kIllegalAddress = 700;
constexpr int kOutOfResources = 701;
constexpr int kLaunchTimeout = 702;

struct Launch {
  std::string kernel;
  unsigned elements;
  std::vector<float*> arguments;
  unsigned blocks = 0, bands = 0;  ///< along x and y
};

struct Work {
  std::function<void()> run;
  double us = 0;
};

struct State {
  std::string calls;
  int sticky = 0;
  bool capturing = false;
  bool busy = false;  ///< a graph was launched and not waited for
  std::vector<Work> captured;
  std::vector<std::vector<Work>> graphs;
  std::vector<bool> on_device;  ///< by graph
  double upload_us = 0;         ///< extra time of a graph's first launch if it was not uploaded
  double cold_us = 0;           ///< extra time of the next launch of a graph in any case
  double clock_ms = 0;
  std::size_t memory_left = std::size_t{1} << 30;
  std::map<unsigned long long, std::size_t> allocations;
  std::vector<std::string> functions;
  std::map<void*, int> dynamic_shared;
  std::map<int, int> attributes;  ///< values of another card
  std::string tensor_map;         ///< arguments of the last tensor map
  std::string launch;             ///< the last launch
  std::vector<std::size_t> arguments;
  int retained = 0;            ///< how often the primary context is retained
  std::vector<void*> modules;  ///< the loaded modules
  std::size_t loaded = 0;      ///< modules that were loaded so far
  std::map<std::string, int> refused;
  std::size_t bytes_back = 0;  ///< copied to the host
  double plain_us = 0;         ///< time of a launch of a plain kernel; 0: as of any other
  double work_s = 0;           ///< CPU time of kernels of checks: the device's, not the host's
};

State& state() {
  static State state;
  return state;
}

/// Returns the calling thread's stack.
std::vector<void*>& contexts() {
  thread_local std::vector<void*> contexts;
  return contexts;
}

/// True of its own streams, and of the default one of the program or of each thread, by CUDA's numbers.
bool is_stream(const void* stream) {
  return stream == &state() || reinterpret_cast<std::uintptr_t>(stream) <= 2;
}

int note(const char* call) {
  state().calls += call;
  state().calls += ' ';
  const auto refused = state().refused.find(call);
  return refused != state().refused.end() ? refused->second : state().sticky;
}

/// Counts the CPU time of work that a device would do.
class DeviceWork {
 public:
  ~DeviceWork() { state().work_s += now_s() - begin_s_; }

 private:
  static double now_s() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  }
  double begin_s_ = now_s();
};

void perform(const Work& work) {
  state().clock_ms += work.us / 1000;
  work.run();
}

/// Computes a row-major product.
void gemm(const std::vector<float*>& arguments, int m, int n, int k) {
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int p = 0; p < k; ++p) sum += arguments[0][i * k + p] * arguments[1][p * n + j];
      arguments[2][i * n + j] = sum;
    }
  }
}

void run(const Launch& launch) {
  State& s = state();
  if (launch.kernel == "illegal") s.sticky = kIllegalAddress;
  if (launch.kernel == "forever") s.sticky = kLaunchTimeout;
  if (s.sticky != 0) return;
  if (fake_check_arguments(launch.kernel) > 0) {
    const DeviceWork work;
    return fake_check_run(launch.kernel, {launch.arguments.begin(), launch.arguments.end()}, launch.blocks,
                          launch.bands);
  }
  int m = 0, n = 0, k = 0;
  if (std::sscanf(launch.kernel.c_str(), "gemm_%d_%d_%d", &m, &n, &k) == 3)
    return gemm(launch.arguments, m, n, k);
  const float* a = launch.arguments[0];
  float* c = launch.arguments[1];
  if (launch.kernel.starts_with("workspace_")) {
    // One counter, which must be zero when the kernel begins.
    float* counter = launch.arguments[2];
    if (*counter != 0) return;
    if (launch.kernel == "workspace_left_dirty") *counter = 1;
    if (launch.kernel == "workspace_overrun") counter[3] = 1;
  }
  for (unsigned i = 0; i < launch.elements; ++i) {
    if (launch.kernel == "halves" && i >= launch.elements / 2) break;
    c[i] = launch.kernel == "wrong" ? 0.0f : 2.0f * a[i];
  }
  if (launch.kernel == "behind") c[launch.elements + 3] = 1;
  static int launches = 0;
  if (launch.kernel == "modifies" || (launch.kernel == "modifies_later" && ++launches > 1))
    const_cast<float*>(a)[5] += 1;
  if (launch.kernel == "before") c[-2] = 1;
}

}  // namespace

void fake_cuda_submit(std::function<void()> work, double us) {
  Work one{std::move(work), us};
  if (state().capturing) {
    state().captured.push_back(std::move(one));
  } else {
    perform(one);
  }
}
bool fake_cuda_capturing() {
  return state().capturing;
}
void fake_cuda_note(const char* call) {
  note(call);
}

#define EXPORT extern "C" __attribute__((visibility("default")))

/// For tests.
EXPORT const char* fake_cuda_calls() {
  return state().calls.c_str();
}
EXPORT void fake_cuda_reset(std::size_t memory_bytes) {
  state() = State();
  contexts().clear();
  state().memory_left = memory_bytes;
}
/// Sets delays: from now on a graph's first launch takes longer by `upload_us`, unless it was uploaded, and
/// the next launch by `cold_us` whether it was or not.
EXPORT void fake_cuda_first_launches(double upload_us, double cold_us) {
  state().upload_us = upload_us;
  state().cold_us = cold_us;
}
EXPORT const char* fake_cuda_tensor_map() {
  return state().tensor_map.c_str();
}
/// Returns "gemm_1_2_3 grid 1 1 1 block 32 1 1 shared 0", with ", programmatic" for a programmatic launch.
EXPORT const char* fake_cuda_launch() {
  return state().launch.c_str();
}
/// Returns the bits of an argument of the last launch, by its number.
EXPORT std::size_t fake_cuda_argument(std::size_t number) {
  return state().arguments.at(number);
}
/// Sets the answer, from now on, of a call that is written down by this name.
EXPORT void fake_cuda_refuse(const char* call, int code) {
  state().refused[call] = code;
}
/// Return the number of loaded modules, and how often the primary context is retained.
EXPORT int fake_cuda_modules() {
  return static_cast<int>(state().modules.size());
}
EXPORT int fake_cuda_retained() {
  return state().retained;
}
/// Sets an attribute of the device; from 1000 on, one of functions.
EXPORT void fake_cuda_set_attribute(int attribute, int value) {
  state().attributes[attribute] = value;
}
EXPORT int fake_cuda_allocations() {
  return static_cast<int>(state().allocations.size());
}
EXPORT int fake_cuda_dynamic_shared(const char* kernel) {
  for (const auto& [function, bytes] : state().dynamic_shared) {
    if (state().functions[reinterpret_cast<std::size_t>(function) - 1] == kernel) return bytes;
  }
  return 0;
}

EXPORT std::size_t fake_cuda_bytes_back() {
  return state().bytes_back;
}
EXPORT double fake_cuda_work_s() {
  return state().work_s;
}
EXPORT void fake_cuda_plain_us(double us) {
  state().plain_us = us;
}
EXPORT void fake_cuda_break_check(const char* what) {
  fake_check_break(what);
}
EXPORT void fake_cuda_tell(const long* elements, const float* values, std::size_t count) {
  fake_check_tell({elements, elements + count}, {values, values + count});
}

EXPORT int cuInit(unsigned) {
  return note("cuInit");
}
EXPORT int cuDriverGetVersion(int* version) {
  const char* const told = std::getenv("LEHR_FAKE_CUDA_VERSION");
  *version = told ? std::atoi(told) : 13000;
  return 0;
}
EXPORT int cuGetErrorName(int code, const char** name) {
  switch (code) {
    case kOutOfMemory:
      return *name = "CUDA_ERROR_OUT_OF_MEMORY", 0;
    case kInvalidDevice:
      return *name = "CUDA_ERROR_INVALID_DEVICE", 0;
    case kIllegalAddress:
      return *name = "CUDA_ERROR_ILLEGAL_ADDRESS", 0;
    case kOutOfResources:
      return *name = "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", 0;
    case kLaunchTimeout:
      return *name = "CUDA_ERROR_LAUNCH_TIMEOUT", 0;
    case kNotFound:
      return *name = "CUDA_ERROR_NOT_FOUND", 0;
    case kInvalidImage:
      return *name = "CUDA_ERROR_INVALID_IMAGE", 0;
  }
  return 1;
}
EXPORT int cuGetErrorString(int code, const char** text) {
  if (code == kIllegalAddress) {
    *text = "an illegal memory access was encountered";
    return 0;
  }
  *text = "a fake error";
  return 0;
}
EXPORT int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}
EXPORT int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return ordinal == 0 ? 0 : kInvalidDevice;
}
EXPORT int cuDeviceGetName(char* name, int size, int) {
  std::strncpy(name, "Fake H200", static_cast<std::size_t>(size));
  return 0;
}
EXPORT int cuDeviceGetUuid(unsigned char* uuid, int) {
  for (int i = 0; i < 16; ++i) uuid[i] = static_cast<unsigned char>(i * 16 + i);
  return 0;
}
EXPORT int cuDeviceGetAttribute(int* value, int attribute, int) {
  if (const auto other = state().attributes.find(attribute); other != state().attributes.end()) {
    *value = other->second;
    return 0;
  }
  // An H200's, but for the L2 (1 MiB keeps the fake quick).
  static const std::map<int, int> values = {
      {1, 1024},  {8, 49152}, {10, 32}, {13, 1980000}, {16, 132},   {36, 3201000}, {37, 6144}, {38, 1 << 20},
      {39, 2048}, {75, 9},    {76, 0},  {81, 233472},  {82, 65536}, {97, 232448},  {106, 32}};
  const auto found = values.find(attribute);
  if (found == values.end()) return 1;
  *value = found->second;
  return 0;
}
EXPORT int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &state();
  const int code = note("cuDevicePrimaryCtxRetain");
  if (code == 0) ++state().retained;
  return code;
}
EXPORT int cuDevicePrimaryCtxRelease_v2(int) {
  --state().retained;
  return note("cuDevicePrimaryCtxRelease");
}
EXPORT int cuCtxSetCurrent(void*) {
  return note("cuCtxSetCurrent");
}
EXPORT int cuCtxGetCurrent(void** context) {
  *context = contexts().empty() ? nullptr : contexts().back();
  return 0;
}
EXPORT int cuCtxGetDevice(int* device) {
  *device = 0;
  return 0;
}
EXPORT int cuCtxPushCurrent_v2(void* context) {
  const int code = note("cuCtxPushCurrent");
  if (code == 0) contexts().push_back(context);
  return code;
}
EXPORT int cuCtxPopCurrent_v2(void** context) {
  *context = contexts().back();
  contexts().pop_back();
  return note("cuCtxPopCurrent");
}

EXPORT int cuMemAlloc_v2(unsigned long long* address, std::size_t bytes) {
  if (bytes > state().memory_left) return kOutOfMemory;
  state().memory_left -= bytes;
  *address = reinterpret_cast<unsigned long long>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  state().allocations[*address] = bytes;
  // The memory was another program's before, as device memory is.
  std::memset(reinterpret_cast<void*>(*address), 0xa5, std::min<std::size_t>(bytes, 4096));
  return note("cuMemAlloc");
}
EXPORT int cuMemFree_v2(unsigned long long address) {
  state().memory_left += state().allocations[address];
  state().allocations.erase(address);
  std::free(reinterpret_cast<void*>(address));
  return note("cuMemFree");
}
EXPORT int cuMemcpyHtoD_v2(unsigned long long to, const void* from, std::size_t bytes) {
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return state().sticky;
}
EXPORT int cuMemcpyDtoH_v2(void* to, unsigned long long from, std::size_t bytes) {
  std::memcpy(to, reinterpret_cast<void*>(from), bytes);
  state().bytes_back += bytes;
  return note("cuMemcpyDtoH");
}
EXPORT int cuMemsetD8_v2(unsigned long long to, unsigned char value, std::size_t bytes) {
  const DeviceWork work;
  std::memset(reinterpret_cast<void*>(to), value, bytes);
  return note("cuMemsetD8");
}
EXPORT int cuMemsetD8Async(unsigned long long to, unsigned char value, std::size_t bytes, void*) {
  fake_cuda_submit([=] { std::memset(reinterpret_cast<void*>(to), value, bytes); }, 1);
  return note("cuMemsetD8Async");
}
EXPORT int cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, std::size_t bytes, void*) {
  fake_cuda_submit([=] { std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes); },
                   1);
  return note("cuMemcpyDtoDAsync");
}

EXPORT int cuModuleLoadData(void** module, const void* image) {
  // Real ones are taken for what they are, too.
  const std::string_view text(static_cast<const char*>(image));
  if (text == "FAKE CUBIN OF ANOTHER GPU") return kNoBinaryForGpu;
  if (!text.starts_with("FAKE CUBIN") && !text.starts_with(".version 7.8") && !text.starts_with("\177ELF") &&
      !text.starts_with("//"))
    return kInvalidImage;
  *module = reinterpret_cast<void*>(++state().loaded);
  state().modules.push_back(*module);
  return note("cuModuleLoadData");
}
EXPORT int cuModuleUnload(void* module) {
  std::erase(state().modules, module);
  return note("cuModuleUnload");
}
EXPORT int cuModuleGetFunction(void** function, void*, const char* name) {
  if (std::string(name) == "absent") return kNotFound;
  state().functions.push_back(name);
  *function = reinterpret_cast<void*>(state().functions.size());
  return note("cuModuleGetFunction");
}
EXPORT int cuFuncGetAttribute(int* value, int attribute, void*) {
  if (const auto other = state().attributes.find(1000 + attribute); other != state().attributes.end()) {
    *value = other->second;
    return 0;
  }
  static const std::map<int, int> values = {{0, 256}, {1, 64}, {3, 16}, {4, 42}};
  const auto found = values.find(attribute);
  if (found == values.end()) return 1;
  *value = found->second;
  return 0;
}
EXPORT int cuFuncSetAttribute(void* function, int attribute, int value) {
  if (attribute != 8 || value > 232448) return 1;
  state().dynamic_shared[function] = value;
  return note("cuFuncSetAttribute");
}
struct LaunchConfig {  // CUlaunchConfig
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
  void* stream;
  const int* attributes;  // CUlaunchAttribute: its number, four bytes, its value
  unsigned count;
};
#ifndef FAKE_CUDA_BEFORE_11_8
EXPORT int cuOccupancyMaxActiveClusters(int* count, void* function, const LaunchConfig* config) {
  if (config->count != 1) return 1;
  const int blocks = config->attributes[2];
  if (state().functions[reinterpret_cast<std::size_t>(function) - 1] != "lehr_probe") {
    *count = blocks <= 8 && config->grid_x % static_cast<unsigned>(blocks) == 0;
    return 0;
  }
  if (config->attributes[0] != 4 || static_cast<unsigned>(blocks) != config->grid_x || blocks > 8) return 1;
  if (config->shared_bytes <= 232448 / 2 ||
      static_cast<int>(config->shared_bytes) > state().dynamic_shared[function])
    return 1;
  // The answers by multiprocessors and blocks, for GPCs that have at most 18.
  static const std::map<std::pair<int, int>, int> counts = {{{132, 2}, 66}, {{132, 4}, 31}, {{132, 8}, 15},
                                                            {{114, 2}, 57}, {{114, 4}, 26}, {{114, 8}, 12}};
  int multiprocessors = 0;
  cuDeviceGetAttribute(&multiprocessors, 16, 0);
  const auto found = counts.find({multiprocessors, blocks});
  if (found == counts.end()) return 1;
  *count = found->second;
  return note("cuOccupancyMaxActiveClusters");
}
#endif
/// Returns how many arguments a kernel has.
static int arguments_of(const std::string& kernel) {
  if (const int known = fake_check_arguments(kernel); known > 0) return known;
  if (kernel == "workspace_two") return 4;
  return kernel.starts_with("gemm_") || kernel.starts_with("workspace_") ? 3 : 2;
}
EXPORT int cuLaunchKernelEx(const LaunchConfig* config, void* function, void** arguments, void**) {
  Launch launch{
      state().functions[reinterpret_cast<std::size_t>(function) - 1], config->grid_x * config->block_x, {}};
  if (launch.kernel == "refused" || !is_stream(config->stream)) return kOutOfResources;
  const unsigned numbers[] = {config->grid_x,  config->grid_y,  config->grid_z,      config->block_x,
                              config->block_y, config->block_z, config->shared_bytes};
  state().launch = launch.kernel;
  constexpr const char* kBefore[] = {" grid ", " ", " ", " block ", " ", " ", " shared "};
  for (int i = 0; i < 7; ++i) state().launch += kBefore[i] + std::to_string(numbers[i]);
  const int count = arguments_of(launch.kernel);
  launch.blocks = config->grid_x;
  launch.bands = config->grid_y;
  state().arguments.clear();
  for (int i = 0; i < count; ++i) {
    launch.arguments.push_back(*static_cast<float**>(arguments[i]));
    state().arguments.push_back(*static_cast<std::size_t*>(arguments[i]));
  }
  const bool slow = state().plain_us > 0 && launch.kernel.starts_with("plain_");
  // The usual time is exact in the float that the events give.
  fake_cuda_submit([launch] { run(launch); }, slow ? state().plain_us : 1000.0 / 64);
  const bool programmatic = config->count == 1 && config->attributes[0] == 6 && config->attributes[2] == 1;
  note(programmatic ? "cuLaunchKernelEx, programmatic" : "cuLaunchKernelEx");
  if (programmatic) state().launch += ", programmatic";
  return 0;  // launches are asynchronous: a fault shows at the next synchronisation
}
/// The fake's map begins with the tensor's address, where kernels find it as they find a pointer.
EXPORT int cuTensorMapEncodeTiled(void* map, int type, unsigned rank, void* address,
                                  const unsigned long long* dims, const unsigned long long* strides,
                                  const unsigned* box, const unsigned* every, int interleave, int swizzle,
                                  int promotion, int fill) {
  if (reinterpret_cast<std::size_t>(address) % 16 != 0) return 1;
  *static_cast<void**>(map) = address;
  std::string& text = state().tensor_map;
  text = "type " + std::to_string(type) + " rank " + std::to_string(rank) + " dims";
  for (unsigned d = 0; d < rank; ++d) text += " " + std::to_string(dims[d]);
  text += " strides";
  for (unsigned d = 0; d + 1 < rank; ++d) text += " " + std::to_string(strides[d]);
  text += " box";
  for (unsigned d = 0; d < rank; ++d) text += " " + std::to_string(box[d] / every[d]);
  for (const int each : {interleave, swizzle, promotion, fill}) text += " " + std::to_string(each);
  return note("cuTensorMapEncodeTiled");
}
EXPORT int cuTensorMapEncodeIm2col(void* map, int type, unsigned rank, void* address,
                                   const unsigned long long* dims, const unsigned long long* strides,
                                   const int* lower, const int* upper, unsigned channels, unsigned pixels,
                                   const unsigned* steps, int interleave, int swizzle, int promotion,
                                   int fill) {
  if (reinterpret_cast<std::size_t>(address) % 16 != 0) return 1;
  *static_cast<void**>(map) = address;
  std::string& text = state().tensor_map;
  text = "im2col type " + std::to_string(type) + " rank " + std::to_string(rank) + " dims";
  for (unsigned d = 0; d < rank; ++d) text += " " + std::to_string(dims[d]);
  text += " strides";
  for (unsigned d = 0; d + 1 < rank; ++d) text += " " + std::to_string(strides[d]);
  text += " corners";
  for (const int* corner : {lower, upper})
    for (unsigned d = 0; d + 2 < rank; ++d) text += " " + std::to_string(corner[d]);
  text += " column " + std::to_string(channels) + " " + std::to_string(pixels) + " steps";
  for (unsigned d = 0; d < rank; ++d) text += " " + std::to_string(steps[d]);
  for (const int each : {interleave, swizzle, promotion, fill}) text += " " + std::to_string(each);
  return note("cuTensorMapEncodeIm2col");
}
EXPORT int cuStreamCreate(void** stream, unsigned) {
  *stream = &state();
  return note("cuStreamCreate");
}
EXPORT int cuStreamDestroy_v2(void*) {
  return note("cuStreamDestroy");
}
EXPORT int cuStreamSynchronize(void*) {
  state().busy = false;
  return note("cuStreamSynchronize");
}
EXPORT int cuStreamBeginCapture_v2(void*, int) {
  state().capturing = true;
  state().captured.clear();
  return note("cuStreamBeginCapture");
}
EXPORT int cuStreamEndCapture(void*, void** graph) {
  state().capturing = false;
  *graph = &state().captured;
  return note("cuStreamEndCapture");
}
EXPORT int cuEventCreate(void** event, unsigned) {
  *event = new double(0);
  return 0;
}
EXPORT int cuEventDestroy_v2(void* event) {
  delete static_cast<double*>(event);
  return 0;
}
EXPORT int cuEventRecord(void* event, void*) {
  *static_cast<double*>(event) = state().clock_ms;
  return note("cuEventRecord");
}
EXPORT int cuEventElapsedTime(float* ms, void* begin, void* end) {
  *ms = static_cast<float>(*static_cast<double*>(end) - *static_cast<double*>(begin));
  return 0;
}
EXPORT int cuGraphInstantiateWithFlags(void** executable, void*, unsigned long long) {
  state().graphs.push_back(state().captured);
  state().on_device.push_back(false);
  *executable = reinterpret_cast<void*>(state().graphs.size());
  return note("cuGraphInstantiate");
}
EXPORT int cuGraphDestroy(void*) {
  return note("cuGraphDestroy");
}
EXPORT int cuGraphExecDestroy(void*) {
  return note("cuGraphExecDestroy");
}
EXPORT int cuGraphUpload(void* executable, void*) {
  state().on_device[reinterpret_cast<std::size_t>(executable) - 1] = true;
  return note("cuGraphUpload");
}
EXPORT int cuGraphLaunch(void* executable, void*) {
  State& s = state();
  const std::size_t graph = reinterpret_cast<std::size_t>(executable) - 1;
  s.clock_ms += ((s.on_device[graph] ? 0 : s.upload_us) + s.cold_us) / 1000;
  s.on_device[graph] = true;
  s.cold_us = 0;
  for (const Work& work : s.graphs[graph]) perform(work);
  state().busy = true;
  note("cuGraphLaunch");
  return 0;
}

// NVML, of which this library is a stand-in as well.
EXPORT int nvmlInit_v2() {
  return 0;
}
EXPORT int nvmlShutdown() {
  return 0;
}
EXPORT int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  *device = &state();
  return std::strcmp(uuid, "GPU-00112233-4455-6677-8899-aabbccddeeff") == 0 ? 0 : 6;
}
EXPORT int nvmlDeviceGetClockInfo(void*, int clock, unsigned* megahertz) {
  *megahertz = state().busy ? 1755 : 345;
  return clock == 1 ? 0 : 2;
}
EXPORT int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = 690500;
  return 0;
}
EXPORT int nvmlDeviceGetTemperature(void*, int sensor, unsigned* celsius) {
  *celsius = 64;
  return sensor == 0 ? 0 : 2;
}
