#include "fake_engine.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
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

OrtStatus* get_output(OrtKernelContext* context, std::size_t i, const std::int64_t* dims, std::size_t rank,
                      OrtValue** out) {
  if (i > 1) {
    *out = nullptr;
    return nullptr;
  }
  OrtValue& output = i == 0 ? context->output : context->second;
  output.dims.assign(dims, dims + rank);
  std::size_t count = 1;
  for (const std::int64_t one : output.dims) count *= static_cast<std::size_t>(one);
  if (output.outside == nullptr) output.values.assign(count, -1);
  *out = &output;
  return nullptr;
}

OrtStatus* parallel_for(const OrtKernelContext*, void (*work)(void*, std::size_t), std::size_t total,
                        std::size_t, void* context) {
  ++state.parallel_calls;
  if (state.refuses_parallel_calls) return refuse(OrtErrorCode::kFail, "no threads today");
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
  put(table, ort::GetErrorMessage, +[](const OrtStatus* status) { return status->text.c_str(); });
  put_release(table, ort::ReleaseStatus);
  put_release(table, ort::ReleaseTensorTypeAndShapeInfo);
  put_release(table, ort::ReleaseTypeInfo);
  put(
      table, ort::CreateCustomOpDomain, +[](const char* name, OrtCustomOpDomain** out) -> OrtStatus* {
        return *out = new OrtCustomOpDomain{name, {}}, nullptr;
      });
  put(
      table, ort::CustomOpDomain_Add, +[](OrtCustomOpDomain* domain, const OrtCustomOp* op) -> OrtStatus* {
        domain->ops.push_back(op);
        return nullptr;
      });
  put(
      table, ort::AddCustomOpDomain, +[](OrtSessionOptions*, OrtCustomOpDomain* domain) -> OrtStatus* {
        state.domain = domain;
        return nullptr;
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
        *out = &info->tensor;
        return nullptr;
      });
  put(
      table, ort::GetTensorElementType,
      +[](const OrtTensorTypeAndShapeInfo* info, OrtElementType* out) -> OrtStatus* {
        *out = info->type;
        return nullptr;
      });
  put(
      table, ort::GetDimensionsCount,
      +[](const OrtTensorTypeAndShapeInfo* info, std::size_t* out) -> OrtStatus* {
        *out = info->dims.size();
        return nullptr;
      });
  put(
      table, ort::GetDimensions,
      +[](const OrtTensorTypeAndShapeInfo* info, std::int64_t* out, std::size_t count) -> OrtStatus* {
        std::copy_n(info->dims.begin(), count, out);
        return nullptr;
      });
  put(
      table, ort::GetTensorMutableData, +[](OrtValue* value, void** out) -> OrtStatus* {
        *out = value->data();
        return nullptr;
      });
}

void put_nodes(Table& table) {
  put(
      table, ort::KernelInfo_GetNodeName, +[](const OrtKernelInfo* info, char* out, std::size_t* size) {
        return text_to(info->name, out, size);
      });
  put(
      table, ort::KernelInfo_GetInputCount, +[](const OrtKernelInfo* info, std::size_t* out) -> OrtStatus* {
        *out = info->inputs.size();
        return nullptr;
      });
  put(
      table, ort::KernelInfoGetAttribute_int64,
      +[](const OrtKernelInfo* info, const char* name, std::int64_t* out) -> OrtStatus* {
        if (!info->ints.contains(name)) return refuse(OrtErrorCode::kFail, "no attribute of that name");
        *out = info->ints.at(name);
        return nullptr;
      });
  put(
      table, ort::KernelInfoGetAttribute_string,
      +[](const OrtKernelInfo* info, const char* name, char* out, std::size_t* size) {
        if (!info->texts.contains(name)) return refuse(OrtErrorCode::kFail, "no attribute of that name");
        return text_to(info->texts.at(name), out, size);
      });
  put(
      table, ort::KernelInfoGetAttributeArray_int64,
      +[](const OrtKernelInfo* info, const char* name, std::int64_t* out, std::size_t* count) -> OrtStatus* {
        if (!info->lists.contains(name)) return refuse(OrtErrorCode::kFail, "no attribute of that name");
        const std::vector<std::int64_t>& list = info->lists.at(name);
        if (out != nullptr) std::ranges::copy(list, out);
        *count = list.size();
        return nullptr;
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
        *out = info->inputs[i];
        return nullptr;
      });
  put(
      table, ort::KernelContext_GetInput,
      +[](const OrtKernelContext* context, std::size_t i, const OrtValue** out) -> OrtStatus* {
        *out = context->inputs[i];
        return nullptr;
      });
  put(table, ort::KernelContext_GetOutput, &get_output);
  put(
      table, ort::KernelContext_GetGPUComputeStream,
      +[](const OrtKernelContext* context, void** out) -> OrtStatus* {
        *out = context->stream;
        return nullptr;
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
  state.refuses_parallel_calls = false;
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
