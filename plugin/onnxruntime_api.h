// The part of ONNX Runtime's C API that Lehr uses: slots of its table of functions, numbers and structs. The
// plug-in that runs kernels in the engine (plugin) and the code that times the engine
// (measure/vendor/onnxruntime) include it. It is written from
// include/onnxruntime/core/session/onnxruntime_c_api.h of github.com/microsoft/onnxruntime, so that no build
// needs the engine's package. It includes only headers of the language, since bundles ship it.
//
// The table only grows at its end, so a library of any later version has these slots at the same positions.
// All of them exist since version 17, which came with ONNX Runtime 1.17.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lehr {

/// The version of the table to request: the lowest version that has all slots below.
inline constexpr std::uint32_t kOrtApiVersion = 17;

// Opaque types. If a function returns an object through a pointer to a pointer, the caller releases it with
// ort::Release.... A const object belongs to the object from which it was obtained.
struct OrtAllocator;
struct OrtEnv;
struct OrtKernelContext;
struct OrtKernelInfo;
struct OrtCustomOpDomain;
struct OrtMemoryInfo;
struct OrtRunOptions;
struct OrtSession;
struct OrtSessionOptions;
struct OrtShapeInferContext;
struct OrtStatus;  ///< nullptr: success
struct OrtTensorTypeAndShapeInfo;
struct OrtTypeInfo;
struct OrtValue;

/// The table of functions: an array of function pointers.
struct OrtApi;

/// The result of the library's only exported function, `const OrtApiBase* OrtGetApiBase()`.
struct OrtApiBase {
  /// Returns nullptr if the library is older than this version.
  const OrtApi* (*get_api)(std::uint32_t version);
  const char* (*get_version_string)();  ///< "1.23.2"
};

/// Numbers of enum OrtErrorCode.
enum class OrtErrorCode : int { kOk = 0, kFail = 1, kInvalidArgument = 2, kInvalidGraph = 10 };
/// Numbers of enum OrtLoggingLevel.
enum class OrtLoggingLevel : int { kVerbose = 0, kInfo = 1, kWarning = 2, kError = 3, kFatal = 4 };
/// Numbers of enum GraphOptimizationLevel.
enum class OrtOptimizations : int { kNone = 0, kBasic = 1, kExtended = 2, kAll = 99 };
/// Numbers of enum ExecutionMode.
enum class OrtExecutionMode : int { kSequential = 0, kParallel = 1 };
/// Numbers of enum ONNXType.
enum class OrtOnnxType : int { kUnknown = 0, kTensor = 1 };
/// Numbers of enum ONNXTensorElementDataType, which are those of TensorProto.DataType.
enum class OrtElementType : int {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kBfloat16 = 16,
  kFloat8E4M3FN = 17,
  kFloat8E5M2 = 19,
};
/// Numbers of enum OrtAllocatorType.
enum class OrtAllocatorType : int { kDevice = 0, kArena = 1 };
/// Numbers of enum OrtMemType.
enum class OrtMemType : int { kCpu = -1, kDefault = 0 };
/// Numbers of enum OrtCustomOpInputOutputCharacteristic.
enum class OrtCharacteristic : int { kRequired = 0, kOptional = 1, kVariadic = 2 };

/// An operator of a plug-in. It must outlive all sessions that use it. In every function, `op` is the
/// operator itself. For infer_output_shape and the members after it, a null pointer stands for the engine's
/// default.
struct OrtCustomOp {
  std::uint32_t version = kOrtApiVersion;
  void* (*create_kernel)(const OrtCustomOp* op, const OrtApi* api, const OrtKernelInfo* info) = nullptr;
  const char* (*get_name)(const OrtCustomOp* op) = nullptr;
  const char* (*get_execution_provider_type)(const OrtCustomOp* op) = nullptr;  ///< nullptr: the CPU
  OrtElementType (*get_input_type)(const OrtCustomOp* op, std::size_t index) = nullptr;
  std::size_t (*get_input_type_count)(const OrtCustomOp* op) = nullptr;
  OrtElementType (*get_output_type)(const OrtCustomOp* op, std::size_t index) = nullptr;
  std::size_t (*get_output_type_count)(const OrtCustomOp* op) = nullptr;
  void (*kernel_compute)(void* kernel, OrtKernelContext* context) = nullptr;
  void (*kernel_destroy)(void* kernel) = nullptr;
  OrtCharacteristic (*get_input_characteristic)(const OrtCustomOp* op, std::size_t index) = nullptr;
  OrtCharacteristic (*get_output_characteristic)(const OrtCustomOp* op, std::size_t index) = nullptr;
  OrtMemType (*get_input_memory_type)(const OrtCustomOp* op, std::size_t index) = nullptr;
  int (*get_variadic_input_min_arity)(const OrtCustomOp* op) = nullptr;
  int (*get_variadic_input_homogeneity)(const OrtCustomOp* op) = nullptr;
  int (*get_variadic_output_min_arity)(const OrtCustomOp* op) = nullptr;
  int (*get_variadic_output_homogeneity)(const OrtCustomOp* op) = nullptr;
  OrtStatus* (*create_kernel_v2)(const OrtCustomOp* op, const OrtApi* api, const OrtKernelInfo* info,
                                 void** kernel) = nullptr;
  OrtStatus* (*kernel_compute_v2)(void* kernel, OrtKernelContext* context) = nullptr;
  OrtStatus* (*infer_output_shape)(const OrtCustomOp* op, OrtShapeInferContext* context) = nullptr;
  int (*get_start_version)(const OrtCustomOp* op) = nullptr;
  int (*get_end_version)(const OrtCustomOp* op) = nullptr;
  // Members of version 18, which a library only reads if `version` says so.
  std::size_t (*get_may_inplace)(int** inputs, int** outputs) = nullptr;
  void (*release_may_inplace)(int* inputs, int* outputs) = nullptr;
  std::size_t (*get_alias_map)(int** inputs, int** outputs) = nullptr;
  void (*release_alias_map)(int* inputs, int* outputs) = nullptr;
};

/// The functions of the table, with the names that they have there: `ort::Run(api, session, ...)`.
namespace ort {

template <int kNumber, typename Function>
struct Slot;
template <int kNumber, typename Result, typename... Arguments>
struct Slot<kNumber, Result(Arguments...)> {
  Result operator()(const OrtApi* api, Arguments... arguments) const {
    return reinterpret_cast<Result (*const*)(Arguments...)>(api)[kNumber](arguments...);
  }
  static constexpr int number() { return kNumber; }
};
template <int kNumber, typename... Arguments>
inline constexpr Slot<kNumber, OrtStatus*(Arguments...)> kStatusSlot{};
template <int kNumber, typename Released>
inline constexpr Slot<kNumber, void(Released*)> kReleaseSlot{};

inline constexpr Slot<0, OrtStatus*(OrtErrorCode, const char*)> CreateStatus;
inline constexpr Slot<2, const char*(const OrtStatus*)> GetErrorMessage;
inline constexpr auto ReleaseStatus = kReleaseSlot<93, OrtStatus>;

// Sessions. A path is a `const char*`, as on all systems but Windows.
inline constexpr auto CreateEnv =
    kStatusSlot<3, OrtLoggingLevel, const char* /* name in its log */, OrtEnv**>;
inline constexpr auto ReleaseEnv = kReleaseSlot<92, OrtEnv>;
inline constexpr auto CreateSessionOptions = kStatusSlot<10, OrtSessionOptions**>;
inline constexpr auto ReleaseSessionOptions = kReleaseSlot<100, OrtSessionOptions>;
inline constexpr auto SetSessionExecutionMode = kStatusSlot<13, OrtSessionOptions*, OrtExecutionMode>;
inline constexpr auto SetSessionLogSeverityLevel = kStatusSlot<22, OrtSessionOptions*, int>;
inline constexpr auto SetSessionGraphOptimizationLevel =
    kStatusSlot<23, OrtSessionOptions*, OrtOptimizations>;
inline constexpr auto SetIntraOpNumThreads = kStatusSlot<24, OrtSessionOptions*, int>;
inline constexpr auto SetInterOpNumThreads = kStatusSlot<25, OrtSessionOptions*, int>;
/// Profiles the session from its creation on. The name of the profile's file begins with this path.
inline constexpr auto EnableProfiling = kStatusSlot<14, OrtSessionOptions*, const char* /* path */>;
/// Writes the profile's file, and returns its path.
inline constexpr auto SessionEndProfiling = kStatusSlot<110, OrtSession*, OrtAllocator*, char**>;
inline constexpr auto AddSessionConfigEntry =
    kStatusSlot<130, OrtSessionOptions*, const char* /* key */, const char* /* value */>;
/// The session options keep the library's handle, unlike with slot 29.
inline constexpr auto RegisterCustomOpsLibrary_V2 =
    kStatusSlot<228, OrtSessionOptions*, const char* /* path */>;
inline constexpr auto CreateSession =
    kStatusSlot<7, const OrtEnv*, const char* /* path */, const OrtSessionOptions*, OrtSession**>;
inline constexpr auto CreateSessionFromArray =
    kStatusSlot<8, const OrtEnv*, const void*, std::size_t, const OrtSessionOptions*, OrtSession**>;
inline constexpr auto ReleaseSession = kReleaseSlot<95, OrtSession>;
/// Inputs and outputs are in the order of the given names. An output that is nullptr is created.
inline constexpr auto Run =
    kStatusSlot<9, OrtSession*, const OrtRunOptions*, const char* const* /* input names */,
                const OrtValue* const* /* inputs */, std::size_t, const char* const* /* output names */,
                std::size_t, OrtValue** /* outputs */>;

// Inputs and outputs of a session. Names are freed with the allocator that they were requested with.
inline constexpr auto SessionGetInputCount = kStatusSlot<30, const OrtSession*, std::size_t*>;
inline constexpr auto SessionGetOutputCount = kStatusSlot<31, const OrtSession*, std::size_t*>;
inline constexpr auto SessionGetInputTypeInfo =
    kStatusSlot<33, const OrtSession*, std::size_t, OrtTypeInfo**>;
inline constexpr auto SessionGetOutputTypeInfo =
    kStatusSlot<34, const OrtSession*, std::size_t, OrtTypeInfo**>;
inline constexpr auto SessionGetInputName =
    kStatusSlot<36, const OrtSession*, std::size_t, OrtAllocator*, char**>;
inline constexpr auto SessionGetOutputName =
    kStatusSlot<37, const OrtSession*, std::size_t, OrtAllocator*, char**>;
inline constexpr auto GetOnnxTypeFromTypeInfo = kStatusSlot<56, const OrtTypeInfo*, OrtOnnxType*>;
/// Returns nullptr for a type that is not a tensor's.
inline constexpr auto CastTypeInfoToTensorInfo =
    kStatusSlot<55, const OrtTypeInfo*, const OrtTensorTypeAndShapeInfo**>;
inline constexpr auto ReleaseTypeInfo = kReleaseSlot<98, OrtTypeInfo>;

// Tensors.
/// The caller keeps ownership of the memory.
inline constexpr auto CreateTensorWithDataAsOrtValue =
    kStatusSlot<49, const OrtMemoryInfo*, void*, std::size_t /* bytes */, const std::int64_t* /* shape */,
                std::size_t /* rank */, OrtElementType, OrtValue**>;
inline constexpr auto IsTensor = kStatusSlot<50, const OrtValue*, int*>;
inline constexpr auto GetTensorMutableData = kStatusSlot<51, OrtValue*, void**>;
/// Returns the length of all strings of a tensor together, without terminating zeros.
inline constexpr auto GetStringTensorDataLength = kStatusSlot<53, const OrtValue*, std::size_t*>;
/// Returns all strings in one text, and the offset at which each begins.
inline constexpr auto GetStringTensorContent =
    kStatusSlot<54, const OrtValue*, void*, std::size_t /* length */, std::size_t* /* begins */,
                std::size_t /* how many */>;
inline constexpr auto ReleaseValue = kReleaseSlot<96, OrtValue>;
inline constexpr auto GetTensorTypeAndShape = kStatusSlot<65, const OrtValue*, OrtTensorTypeAndShapeInfo**>;
inline constexpr auto GetTensorElementType =
    kStatusSlot<60, const OrtTensorTypeAndShapeInfo*, OrtElementType*>;
inline constexpr auto GetDimensionsCount = kStatusSlot<61, const OrtTensorTypeAndShapeInfo*, std::size_t*>;
/// A dimension is -1 if it is not known before the network runs.
inline constexpr auto GetDimensions =
    kStatusSlot<62, const OrtTensorTypeAndShapeInfo*, std::int64_t*, std::size_t>;
inline constexpr auto GetTensorShapeElementCount =
    kStatusSlot<64, const OrtTensorTypeAndShapeInfo*, std::size_t*>;
inline constexpr auto ReleaseTensorTypeAndShapeInfo = kReleaseSlot<99, OrtTensorTypeAndShapeInfo>;

// Memory.
inline constexpr auto CreateCpuMemoryInfo = kStatusSlot<69, OrtAllocatorType, OrtMemType, OrtMemoryInfo**>;
inline constexpr auto ReleaseMemoryInfo = kReleaseSlot<94, OrtMemoryInfo>;
inline constexpr auto AllocatorFree = kStatusSlot<76, OrtAllocator*, void*>;
/// Returns the CPU's allocator, which must not be released.
inline constexpr auto GetAllocatorWithDefaultOptions = kStatusSlot<78, OrtAllocator**>;

// A plug-in's operators.
inline constexpr auto CreateCustomOpDomain = kStatusSlot<26, const char*, OrtCustomOpDomain**>;
inline constexpr auto CustomOpDomain_Add = kStatusSlot<27, OrtCustomOpDomain*, const OrtCustomOp*>;
inline constexpr auto AddCustomOpDomain = kStatusSlot<28, OrtSessionOptions*, OrtCustomOpDomain*>;
inline constexpr auto ReleaseCustomOpDomain = kReleaseSlot<101, OrtCustomOpDomain>;

// Facts about a node, for the creation of its kernel. `size` is in and out: the size of the text with its
// terminating 0. If the pointer to the text is null, only the size is returned.
inline constexpr auto KernelInfoGetAttribute_int64 =
    kStatusSlot<86, const OrtKernelInfo*, const char*, std::int64_t*>;
inline constexpr auto KernelInfoGetAttribute_string =
    kStatusSlot<87, const OrtKernelInfo*, const char*, char*, std::size_t* /* size */>;
/// `count` is in and out: the number of elements. If the pointer to the elements is null, only the count is
/// returned.
inline constexpr auto KernelInfoGetAttributeArray_int64 =
    kStatusSlot<163, const OrtKernelInfo*, const char*, std::int64_t*, std::size_t* /* count */>;
inline constexpr auto KernelInfo_GetInputCount = kStatusSlot<230, const OrtKernelInfo*, std::size_t*>;
inline constexpr auto KernelInfo_GetInputTypeInfo =
    kStatusSlot<234, const OrtKernelInfo*, std::size_t, OrtTypeInfo**>;
inline constexpr auto KernelInfo_GetNodeName =
    kStatusSlot<244, const OrtKernelInfo*, char*, std::size_t* /* size */>;
inline constexpr auto KernelInfoGetConstantInput_tensor =
    kStatusSlot<249, const OrtKernelInfo*, std::size_t, int* /* is constant */, const OrtValue**>;

// A call of the node.
inline constexpr auto KernelContext_GetInput =
    kStatusSlot<90, const OrtKernelContext*, std::size_t, const OrtValue**>;
inline constexpr auto KernelContext_GetOutput =
    kStatusSlot<91, OrtKernelContext*, std::size_t, const std::int64_t* /* shape */, std::size_t /* rank */,
                OrtValue**>;
inline constexpr auto KernelContext_GetGPUComputeStream = kStatusSlot<193, const OrtKernelContext*, void**>;
/// Calls work(context, i) for i in [0, total) on the engine's intra-op threads, and returns when all calls
/// have returned. The calls are divided into at most `batches` pieces; 0: any number.
inline constexpr auto KernelContext_ParallelFor =
    kStatusSlot<274, const OrtKernelContext*, void (*)(void*, std::size_t), std::size_t /* total */,
                std::size_t /* batches */, void* /* context */>;

}  // namespace ort
}  // namespace lehr
