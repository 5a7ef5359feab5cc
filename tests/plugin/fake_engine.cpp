#include "fake_engine.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <type_traits>
#include <utility>

namespace lehr::testing {
namespace {

Engine state;

OrtStatus* refuse(OrtErrorCode code, const std::string& text) {
  ++state.live;
  return new OrtStatus{code, text};
}

OrtStatus* text_to(const std::string& text, char* out, std::size_t* size) {
  if (out != nullptr) std::memcpy(out, text.c_str(), text.size() + 1);
  *size = text.size() + 1;
  return nullptr;
}

// Nodes are created and called by several threads.
void note(std::vector<std::string>& list, std::string text) {
  static std::mutex adding;
  const std::lock_guard lock(adding);
  list.push_back(std::move(text));
}

std::int64_t dim(const OrtValue& value, std::size_t from_behind) {
  return from_behind < value.dims.size() ? value.dims[value.dims.size() - 1 - from_behind] : 1;
}

// Of matrices and of rows that go with each of their rows.
OrtStatus* invoke(const OrtKernelContext*, const OrtOp* op, const OrtValue* const* in, int count,
                  OrtValue* const* out, int) {
  note(state.invoked, op->name);
  OrtValue &y = *out[0], &a = const_cast<OrtValue&>(*in[0]), &b = const_cast<OrtValue&>(*in[count - 1]);
  const std::int64_t m = dim(y, 1), n = dim(y, 0), k = dim(a, 0);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      float& to = y.data()[i * n + j];
      const float left = op->name == "MatMul" ? 0 : a.data()[i * n + j];
      const float right = op->name == "MatMul" ? 0 : b.data()[(b.dims.size() == 1 ? 0 : i) * n + j];
      to = op->name == "Mul" ? left * right : left + right;
      if (op->name == "MatMul")
        for (std::int64_t l = 0; l < k; ++l) to += a.data()[i * k + l] * b.data()[l * n + j];
    }
  return nullptr;
}

// Like the engine's registry: kernels without an end are found by the version that brought them alone.
OrtStatus* create_op(const OrtKernelInfo*, const char* name, const char*, int version, const char**,
                     const OrtElementType*, int, const OrtOpAttr* const* attributes, int count, int, int,
                     OrtOp** op) {
  const std::string asked = name;
  if (asked == "Div") return refuse(OrtErrorCode::kRuntimeException, "Div is out of order");
  if (version != 13) return refuse(OrtErrorCode::kFail, "no kernel of that version");
  std::string created = asked + " " + std::to_string(version);
  for (int i = 0; i < count; ++i) created += " " + attributes[i]->name;
  note(state.created, created);
  ++state.live;
  *op = new OrtOp{asked};
  return nullptr;
}

OrtStatus* get_output(OrtKernelContext* context, std::size_t, const std::int64_t* dims, std::size_t rank,
                      OrtValue** out) {
  OrtValue& output = context->output;
  output.dims.assign(dims, dims + rank);
  std::size_t count = 1;
  for (const std::int64_t one : output.dims) count *= static_cast<std::size_t>(one);
  if (output.outside == nullptr) output.values.assign(count, -1);
  *out = &output;
  return nullptr;
}

OrtStatus* create_tensor(OrtAllocator*, const std::int64_t* dims, std::size_t rank, OrtElementType,
                         OrtValue** out) {
  OrtKernelContext made;
  OrtStatus* const status = get_output(&made, 0, dims, rank, out);
  ++state.live;
  *out = new OrtValue(made.output);
  return status;
}

OrtStatus* parallel_for(const OrtKernelContext*, void (*work)(void*, std::size_t), std::size_t total,
                        std::size_t, void* context) {
  ++state.parallel_calls;
  for (std::size_t i = total; i-- > 0;) work(context, i);
  return nullptr;
}

void missing() {
  std::abort();
}

using Table = std::array<void (*)(), ort::KernelContext_ParallelFor.number() + 1>;

template <int kNumber, typename Function>
void put(Table& table, const ort::Slot<kNumber, Function>&, std::type_identity_t<Function>* function) {
  table[kNumber] = reinterpret_cast<void (*)()>(function);
}
template <int kNumber, typename Released>
void put_release(Table& table, const ort::Slot<kNumber, void(Released*)>& slot) {
  put(
      table, slot, +[](Released* released) {
        if (released != nullptr) --state.live;
        delete released;
      });
}

void put_objects(Table& table) {
  put(table, ort::CreateStatus, +[](OrtErrorCode code, const char* text) { return refuse(code, text); });
  put(table, ort::GetErrorCode, +[](const OrtStatus* status) { return status->code; });
  put(table, ort::GetErrorMessage, +[](const OrtStatus* status) { return status->text.c_str(); });
  put_release(table, ort::ReleaseStatus);
  put_release(table, ort::ReleaseValue);
  put_release(table, ort::ReleaseTensorTypeAndShapeInfo);
  put_release(table, ort::ReleaseTypeInfo);
  put_release(table, ort::ReleaseMemoryInfo);
  put_release(table, ort::ReleaseAllocator);
  put_release(table, ort::ReleaseOpAttr);
  put_release(table, ort::ReleaseOp);
  put(
      table, ort::CreateCpuMemoryInfo, +[](OrtAllocatorType, OrtMemType, OrtMemoryInfo** out) -> OrtStatus* {
        ++state.live;
        return *out = new OrtMemoryInfo, nullptr;
      });
  put(table, ort::CreateTensorAsOrtValue, &create_tensor);
  put(
      table, ort::CreateOpAttr,
      +[](const char* name, const void*, int, OrtOpAttrType, OrtOpAttr** out) -> OrtStatus* {
        ++state.live;
        return *out = new OrtOpAttr{name}, nullptr;
      });
  put(table, ort::CreateOp, &create_op);
  put(table, ort::InvokeOp, &invoke);
  put(
      table, ort::CreateCustomOpDomain, +[](const char* name, OrtCustomOpDomain** out) -> OrtStatus* {
        return *out = new OrtCustomOpDomain{name, {}}, nullptr;
      });
  put(
      table, ort::CustomOpDomain_Add, +[](OrtCustomOpDomain* domain, const OrtCustomOp* op) -> OrtStatus* {
        return domain->ops.push_back(op), nullptr;
      });
  put(
      table, ort::AddCustomOpDomain, +[](OrtSessionOptions*, OrtCustomOpDomain* domain) -> OrtStatus* {
        return state.domain = domain, nullptr;
      });
}

void put_tensors(Table& table) {
  put(
      table, ort::GetTensorTypeAndShape,
      +[](const OrtValue* value, OrtTensorTypeAndShapeInfo** out) -> OrtStatus* {
        ++state.live;
        return *out = new OrtTensorTypeAndShapeInfo{value->dims}, nullptr;
      });
  put(
      table, ort::CastTypeInfoToTensorInfo,
      +[](const OrtTypeInfo* info, const OrtTensorTypeAndShapeInfo** out) -> OrtStatus* {
        return *out = &info->tensor, nullptr;
      });
  put(
      table, ort::GetTensorElementType,
      +[](const OrtTensorTypeAndShapeInfo* info, OrtElementType* out) -> OrtStatus* {
        return *out = info->type, nullptr;
      });
  put(
      table, ort::GetDimensionsCount,
      +[](const OrtTensorTypeAndShapeInfo* info, std::size_t* out) -> OrtStatus* {
        return *out = info->dims.size(), nullptr;
      });
  put(
      table, ort::GetDimensions,
      +[](const OrtTensorTypeAndShapeInfo* info, std::int64_t* out, std::size_t count) -> OrtStatus* {
        return std::copy_n(info->dims.begin(), count, out), nullptr;
      });
  put(
      table, ort::GetTensorMutableData,
      +[](OrtValue* value, void** out) -> OrtStatus* { return *out = value->data(), nullptr; });
  put(
      table, ort::GetTensorMemoryInfo, +[](const OrtValue*, const OrtMemoryInfo** out) -> OrtStatus* {
        static const OrtMemoryInfo beside;
        return *out = &beside, nullptr;
      });
  put(
      table, ort::KernelContext_GetAllocator,
      +[](const OrtKernelContext*, const OrtMemoryInfo*, OrtAllocator** out) -> OrtStatus* {
        ++state.live;
        return *out = new OrtAllocator, nullptr;
      });
  put(
      table, ort::AllocatorAlloc, +[](OrtAllocator*, std::size_t bytes, void** out) -> OrtStatus* {
        ++state.live;
        return *out = std::memset(std::malloc(bytes), 0xff, bytes), nullptr;
      });
  put(
      table, ort::AllocatorFree, +[](OrtAllocator*, void* memory) -> OrtStatus* {
        --state.live;
        return std::free(memory), nullptr;
      });
}

void put_nodes(Table& table) {
  put(
      table, ort::KernelInfo_GetLogger, +[](const OrtKernelInfo*, const OrtLogger** out) -> OrtStatus* {
        static const OrtLogger logger;
        return *out = &logger, nullptr;
      });
  put(
      table, ort::Logger_LogMessage,
      +[](const OrtLogger*, OrtLoggingLevel, const char* text, const char*, int, const char*) -> OrtStatus* {
        return note(state.log, text), nullptr;
      });
  put(
      table, ort::KernelInfo_GetNodeName, +[](const OrtKernelInfo* info, char* out, std::size_t* size) {
        return text_to(info->name, out, size);
      });
  put(
      table, ort::KernelInfo_GetInputCount, +[](const OrtKernelInfo* info, std::size_t* out) -> OrtStatus* {
        return *out = info->inputs.size(), nullptr;
      });
  put(
      table, ort::KernelInfoGetAttribute_int64,
      +[](const OrtKernelInfo* info, const char* name, std::int64_t* out) -> OrtStatus* {
        if (!info->ints.contains(name)) return refuse(OrtErrorCode::kFail, "no attribute of that name");
        return *out = info->ints.at(name), nullptr;
      });
  put(
      table, ort::KernelInfoGetAttribute_string,
      +[](const OrtKernelInfo* info, const char* name, char* out, std::size_t* size) {
        if (!info->texts.contains(name)) return refuse(OrtErrorCode::kFail, "no attribute of that name");
        return text_to(info->texts.at(name), out, size);
      });
  put(
      table, ort::KernelInfo_GetInputTypeInfo,
      +[](const OrtKernelInfo* info, std::size_t i, OrtTypeInfo** out) -> OrtStatus* {
        ++state.live;
        const auto said = info->types.find(i);
        const OrtElementType type = said == info->types.end() ? OrtElementType::kFloat : said->second;
        return *out = new OrtTypeInfo{{{}, type}}, nullptr;
      });
  put(
      table, ort::KernelInfoGetConstantInput_tensor,
      +[](const OrtKernelInfo* info, std::size_t i, int* is_constant, const OrtValue** out) -> OrtStatus* {
        *is_constant = info->inputs[i] != nullptr;
        return *out = info->inputs[i], nullptr;
      });
  put(
      table, ort::KernelContext_GetInput,
      +[](const OrtKernelContext* context, std::size_t i, const OrtValue** out) -> OrtStatus* {
        return *out = context->inputs[i], nullptr;
      });
  put(table, ort::KernelContext_GetOutput, &get_output);
  put(
      table, ort::KernelContext_GetGPUComputeStream,
      +[](const OrtKernelContext* context, void** out) -> OrtStatus* {
        return *out = context->stream, nullptr;
      });
  put(table, ort::KernelContext_ParallelFor, &parallel_for);
}

const OrtApi* api_of(std::uint32_t version) {
  static const Table table = [] {
    Table made;
    made.fill(&missing);
    put_objects(made);
    put_tensors(made);
    put_nodes(made);
    return made;
  }();
  return version <= 17 ? reinterpret_cast<const OrtApi*>(table.data()) : nullptr;
}

}  // namespace

Engine& engine() {
  return state;
}
void reset_engine() {
  state.log.clear();
  state.created.clear();
  state.invoked.clear();
  state.parallel_calls = state.live = 0;
}
const OrtApiBase* engine_base() {
  static constexpr OrtApiBase base = {&api_of, +[] { return "1.17.0"; }};
  return &base;
}
const OrtApiBase* old_engine_base() {
  static constexpr OrtApiBase base = {
      +[](std::uint32_t version) { return version <= 16 ? api_of(version) : nullptr; },
      +[] { return "1.16.3"; }};
  return &base;
}

}  // namespace lehr::testing
