// The interface once more, for those who load the library with apache-tvm-ffi (tvm_ffi.load_module): the same
// functions take and give its values, and tensors of NumPy, PyTorch, JAX and CuPy as they are. Nothing of
// that package is needed otherwise: its one function that is called here is a weak symbol. Its C interface is
// declared as https://github.com/apache/tvm-ffi, include/tvm/ffi/c_api.h, has it (0.1), and DLPack's tensor
// as https://github.com/dmlc/dlpack, include/dlpack/dlpack.h (1.x).
#include <cstring>

#include "runtime/bundle.h"
#include "runtime/message.h"

extern "C" [[gnu::weak]] void TVMFFIErrorSetRaisedFromCStr(const char* kind, const char* message);
extern "C" [[gnu::weak]] void* TVMFFIEnvGetStream(std::int32_t device_type, std::int32_t device);

namespace lehr::runtime {
namespace {

struct DlTensor {
  void* data;
  std::int32_t device_type, device_id;
  std::int32_t dimensions;
  std::uint8_t type_code, type_bits;
  std::uint16_t type_lanes;
  const std::int64_t* shape;
  const std::int64_t* strides;  ///< in elements; NULL: dense, the last dimension innermost
  std::uint64_t byte_offset;
};

/// TVMFFIAny.
struct Value {
  enum Type : std::int32_t {
    kNone = 0,
    kInt = 1,
    kPointer = 4,
    kDlTensor = 7,
    kRawText = 8,
    kSmallText = 11,
    kText = 65,
    kTensor = 70
  };
  std::int32_t type;
  std::uint32_t small_size;
  union {
    std::int64_t number;
    void* pointer;
    const char* text;
    char small[8];
  };
};

// What an object has behind its reference counts, its type and its deleter.
const void* within(const Value& object) {
  constexpr std::size_t kHeader = 24;
  return static_cast<const char*>(object.pointer) + kHeader;
}

const DlTensor* tensor_in(const Value& value) {
  if (value.type == Value::kDlTensor) return static_cast<const DlTensor*>(value.pointer);
  return value.type == Value::kTensor ? static_cast<const DlTensor*>(within(value)) : nullptr;
}

/// TVMFFIByteArray.
struct Bytes {
  const char* data;
  std::size_t size;
};

// nullptr where it is no text, or one with a 0 within, which would be cut there.
const char* text_in(const Value& value) {
  if (value.type == Value::kRawText) return value.text;
  Bytes text = {nullptr, 0};
  if (value.type == Value::kSmallText) text = {value.small, value.small_size};
  if (value.type == Value::kText) text = *static_cast<const Bytes*>(within(value));
  return text.data != nullptr && std::memchr(text.data, 0, text.size) == nullptr ? text.data : nullptr;
}

/// The values of a call, taken one after the other; the first that is not as wanted ends it.
class Arguments {
 public:
  Arguments(const Value* values, std::int32_t count, lehr_error* error)
      : at_(values), end_(values + count), error_(error) {}

  lehr_status status = LEHR_OK;

  const char* text(const char* name) {
    const char* const found = at_ != end_ ? text_in(*at_) : nullptr;
    if (found == nullptr) return refuse("%s is to be a text without a 0 in it", name), "";
    return ++at_, found;
  }
  std::uint64_t number(const char* name) {
    if (at_ == end_ || at_->type != Value::kInt) return refuse("%s is to be a whole number", name), 0;
    return static_cast<std::uint64_t>((at_++)->number);
  }
  std::uint32_t small_number(const char* name) {
    const std::uint64_t value = number(name);
    if (value > 0xffffffffu) refuse("%s is out of range", name);
    return static_cast<std::uint32_t>(value);
  }
  /// nullptr: None.
  const DlTensor* tensor(const char* name) {
    if (at_ != end_ && at_->type == Value::kNone) return ++at_, nullptr;
    const DlTensor* const found = at_ != end_ ? tensor_in(*at_) : nullptr;
    if (found == nullptr) return refuse("%s is to be a tensor or None", name), nullptr;
    return ++at_, found;
  }
  std::uint32_t left() const { return static_cast<std::uint32_t>(end_ - at_); }
  bool end() {
    if (at_ != end_) refuse("%s is one too many", "the last argument");
    return status == LEHR_OK;
  }

 private:
  void refuse(const char* format, const char* name) {
    if (status == LEHR_OK) status = fail(error_, LEHR_BAD_ARGUMENT, format, name);
  }

  const Value* at_;
  const Value* end_;
  lehr_error* error_;
};

bool has_type(const DlTensor& tensor, std::string_view name) {
  const ElementType* const type = element_type(name);
  return type != nullptr && tensor.type_code == type->code && tensor.type_bits == type->bits;
}

bool is_dense(const DlTensor& tensor) {
  std::int64_t stride = 1;
  for (std::int32_t i = tensor.dimensions; tensor.strides != nullptr && i-- > 0;) {
    if (tensor.shape[i] != 1 && tensor.strides[i] != stride) return false;
    stride *= tensor.shape[i];
  }
  return true;
}

std::uint64_t bytes_of(const DlTensor& tensor) {
  std::uint64_t bytes = tensor.type_bits / 8u * tensor.type_lanes;
  for (std::int32_t i = 0; i < tensor.dimensions; ++i) bytes *= static_cast<std::uint64_t>(tensor.shape[i]);
  return bytes;
}

void* address_of(const DlTensor* tensor) {
  return tensor == nullptr ? nullptr : static_cast<char*>(tensor->data) + tensor->byte_offset;
}

constexpr std::int32_t kCpu = 1, kCuda = 2, kPinned = 3, kManaged = 13;  // DLDeviceType

// `bytes`: that it is to have.
lehr_status check_tensor(const DlTensor& tensor, const ManifestParam& param, std::uint64_t bytes,
                         bool on_cuda, lehr_error* error) {
  const char* const name = param.name.data();
  const std::int32_t place = tensor.device_type;
  if (on_cuda ? place != kCuda && place != kManaged : place != kCpu && place != kPinned)
    return fail(error, LEHR_BAD_ARGUMENT, "%s is not in the memory of the %s", name,
                on_cuda ? "GPU" : "processor");
  if (!is_dense(tensor)) return fail(error, LEHR_BAD_ARGUMENT, "%s is not dense", name);
  if ((param.role == LEHR_IN || param.role == LEHR_OUT) && !has_type(tensor, param.dtype))
    return fail(error, LEHR_BAD_ARGUMENT, "%s is to be of type %s", name, param.dtype.data());
  if (bytes_of(tensor) != bytes)
    return fail(error, LEHR_BAD_ARGUMENT, "%s has %llu bytes, not %llu", name,
                static_cast<unsigned long long>(bytes_of(tensor)), static_cast<unsigned long long>(bytes));
  return LEHR_OK;
}

// On the stream that the package has for the tensors' device.
lehr_status launch_with(lehr_kernel kernel, void* const* params, std::uint32_t count, std::int32_t device,
                        lehr_error* error) {
  lehr_launch_call call = {};
  call.size = sizeof call;
  call.param_count = count;
  call.params = params;
  call.stream = TVMFFIEnvGetStream == nullptr ? nullptr : TVMFFIEnvGetStream(kCuda, device);
  return lehr_launch(kernel, &call, error);
}

// lehr_run (on a GPU lehr_launch) and lehr_prepack: kernel, pool, workers, scratch, tensors.
lehr_status call_with(Arguments& arguments, lehr_status (*run)(lehr_kernel, const lehr_call*, lehr_error*),
                      lehr_error* error) {
  const lehr_kernel kernel = arguments.number("kernel");
  const std::uint64_t pool = arguments.number("pool");
  const std::uint32_t workers = arguments.small_number("workers");
  const DlTensor* const scratch = arguments.tensor("scratch");
  if (arguments.status != LEHR_OK) return arguments.status;
  const Answer* const answer = answer_of(kernel);
  void* params[Manifest::kMostParams];
  std::uint64_t given = 0, rows = 0;  // the first tensor that has rows says how many
  const bool on_cuda = answer != nullptr && answer->parts[0].kernel->manifest->on_cuda();
  std::int32_t device = 0;
  const std::uint32_t count = arguments.left();
  if (answer != nullptr && count != answer->params.size())
    return fail(error, LEHR_BAD_ARGUMENT, "the kernel takes %zu tensors, not %u", answer->params.size(),
                count);
  for (std::uint32_t i = 0; answer != nullptr && i < count; ++i) {
    const DlTensor* const tensor = arguments.tensor(answer->params[i].name.data());
    if (arguments.status != LEHR_OK) return arguments.status;
    params[i] = address_of(tensor);
    if (tensor == nullptr) continue;
    given |= std::uint64_t{1} << i;
    device = tensor->device_id;
    const ManifestParam& param = answer->params[i];
    if (answer->is_open() && rows == 0 && param.slice_bytes > 0) rows = bytes_of(*tensor) / param.slice_bytes;
    if (const lehr_status status =
            check_tensor(*tensor, param, answer->bytes_of(param, rows), on_cuda, error);
        status != LEHR_OK)
      return status;
  }
  const CheckedCall checked{params, count, given, run == &lehr_prepack, rows};
  if (answer != nullptr)
    if (const lehr_status status = check_overlaps(*answer, checked, error); status != LEHR_OK) return status;
  if (on_cuda && run == &lehr_run) return launch_with(kernel, params, count, device, error);
  const lehr_call call = {sizeof call,
                          count,
                          params,
                          address_of(scratch),
                          scratch == nullptr ? 0 : bytes_of(*scratch),
                          pool == 0 ? 1 : workers,
                          pool == 0 ? nullptr : &lehr_pool_run,
                          reinterpret_cast<void*>(pool),
                          rows};
  return run(kernel, &call, error);
}

namespace ffi {

using Given = Arguments&;

lehr_status open(Given arguments, std::uint64_t& number, lehr_error* error) {
  const char* const folder = arguments.text("folder");
  return arguments.end() ? lehr_open(folder, nullptr, &number, error) : arguments.status;
}

lehr_status close(Given arguments, std::uint64_t&, lehr_error* error) {
  const lehr_bundle bundle = arguments.number("bundle");
  return arguments.end() ? lehr_close(bundle, error) : arguments.status;
}

lehr_status find(Given arguments, std::uint64_t& number, lehr_error* error) {
  const lehr_bundle bundle = arguments.number("bundle");
  const char* const workload = arguments.text("workload");
  const lehr_find_options options = {sizeof options, arguments.small_number("threads"), 0, LEHR_ANY_TARGET};
  return arguments.end() ? lehr_find(bundle, workload, &options, &number, error) : arguments.status;
}

lehr_status param_bytes(Given arguments, std::uint64_t& number, lehr_error* error) {
  const lehr_kernel kernel = arguments.number("kernel");
  const std::uint32_t index = arguments.small_number("index");
  if (!arguments.end()) return arguments.status;
  lehr_param_info info = {};
  info.size = sizeof info;
  const lehr_status status = lehr_param(kernel, index, &info, error);
  number = info.bytes;
  return status;
}

lehr_status scratch_bytes(Given arguments, std::uint64_t& number, lehr_error* error) {
  const lehr_kernel kernel = arguments.number("kernel");
  const std::uint32_t workers = arguments.small_number("workers");
  return arguments.end() ? lehr_scratch_bytes(kernel, workers, &number, error) : arguments.status;
}

lehr_status pool_create(Given arguments, std::uint64_t& number, lehr_error* error) {
  const std::uint32_t threads = arguments.small_number("threads");
  if (!arguments.end()) return arguments.status;
  lehr_pool* pool = nullptr;
  const lehr_status status = lehr_pool_create(threads, &pool, error);
  number = reinterpret_cast<std::uint64_t>(pool);
  return status;
}

lehr_status pool_destroy(Given arguments, std::uint64_t&, lehr_error*) {
  const std::uint64_t pool = arguments.number("pool");
  if (arguments.end()) lehr_pool_destroy(reinterpret_cast<lehr_pool*>(pool));
  return arguments.status;
}

lehr_status prepack(Given arguments, std::uint64_t&, lehr_error* error) {
  return call_with(arguments, &lehr_prepack, error);
}

lehr_status run(Given arguments, std::uint64_t&, lehr_error* error) {
  return call_with(arguments, &lehr_run, error);
}

}  // namespace ffi

// To the package: 0 and a number, or -1 and an exception of Python's.
int answer_with(lehr_status (*function)(Arguments&, std::uint64_t&, lehr_error*), const Value* values,
                std::int32_t count, Value* result) {
  lehr_error error = {sizeof error, ""};
  std::uint64_t number = 0;
  Arguments arguments(values, count, &error);
  const lehr_status status = function(arguments, number, &error);
  if (status == LEHR_OK) {
    *result = {};
    result->type = Value::kInt;
    result->number = static_cast<std::int64_t>(number);
    return 0;
  }
  const char* const kind = status == LEHR_NO_KERNEL      ? "KeyError"
                           : status == LEHR_BAD_ARGUMENT ? "ValueError"
                                                         : "RuntimeError";
  if (TVMFFIErrorSetRaisedFromCStr != nullptr) TVMFFIErrorSetRaisedFromCStr(kind, error.text);
  return -1;
}

}  // namespace
}  // namespace lehr::runtime

// The names are the package's: load_module() finds NAME as __tvm_ffi_NAME.
#define LEHR_TVM_FFI(name)                                                                          \
  extern "C" LEHR_API int __tvm_ffi_lehr_##name(void*, const lehr::runtime::Value* values,          \
                                                std::int32_t count, lehr::runtime::Value* result) { \
    return lehr::runtime::answer_with(&lehr::runtime::ffi::name, values, count, result);            \
  }
LEHR_TVM_FFI(open)
LEHR_TVM_FFI(close)
LEHR_TVM_FFI(find)
LEHR_TVM_FFI(param_bytes)
LEHR_TVM_FFI(scratch_bytes)
LEHR_TVM_FFI(pool_create)
LEHR_TVM_FFI(pool_destroy)
LEHR_TVM_FFI(prepack)
LEHR_TVM_FFI(run)
#undef LEHR_TVM_FFI
