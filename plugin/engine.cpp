#include "plugin/engine.h"

#include <utility>

#include "runtime/message.h"

namespace lehr::onnxruntime {

bool succeeded(const OrtApi* api, OrtStatus* status, lehr_error& error) {
  if (status == nullptr) return true;
  runtime::fail(&error, LEHR_BAD_ARGUMENT, "%s", ort::GetErrorMessage(api, status));
  ort::ReleaseStatus(api, status);
  return false;
}

void ignore(const OrtApi* api, OrtStatus* status) {
  if (status != nullptr) ort::ReleaseStatus(api, status);
}

OrtStatus* failed(const OrtApi* api, const char* node, const lehr_error& error) {
  lehr_error whole = no_error();
  runtime::fail(&whole, LEHR_BAD_ARGUMENT, "node '%s': %s", node, error.text);
  return ort::CreateStatus(api, OrtErrorCode::kFail, whole.text);
}

bool shape_of(const OrtApi* api, const OrtValue* tensor, Shape& shape, lehr_error& error) {
  OrtTensorTypeAndShapeInfo* info = nullptr;
  if (!succeeded(api, ort::GetTensorTypeAndShape(api, tensor, &info), error)) return false;
  bool is_read = succeeded(api, ort::GetDimensionsCount(api, info, &shape.rank), error);
  if (is_read && shape.rank > Shape::kMostRank) {
    runtime::fail(&error, LEHR_BAD_ARGUMENT, "an input has %zu dimensions, more than 8", shape.rank);
    is_read = false;
  }
  if (is_read) is_read = succeeded(api, ort::GetDimensions(api, info, shape.dims, shape.rank), error);
  ort::ReleaseTensorTypeAndShapeInfo(api, info);
  return is_read;
}

bool input_type(const OrtApi* api, const OrtKernelInfo* info, std::size_t input, OrtElementType& type,
                lehr_error& error) {
  type = OrtElementType::kUndefined;
  OrtTypeInfo* told = nullptr;
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;
  if (!succeeded(api, ort::KernelInfo_GetInputTypeInfo(api, info, input, &told), error)) return false;
  const bool is_told =
      succeeded(api, ort::CastTypeInfoToTensorInfo(api, told, &tensor), error) &&
      (tensor == nullptr || succeeded(api, ort::GetTensorElementType(api, tensor, &type), error));
  ort::ReleaseTypeInfo(api, told);
  return is_told;
}

void* data_of(const OrtApi* api, const OrtValue* tensor, lehr_error& error) {
  void* data = nullptr;
  return succeeded(api, ort::GetTensorMutableData(api, const_cast<OrtValue*>(tensor), &data), error)
             ? data
             : nullptr;
}

TensorAllocator::TensorAllocator(const OrtApi* api, const OrtKernelContext* context, const OrtValue* tensor,
                                 lehr_error& error)
    : api_(api) {
  const OrtMemoryInfo* memory = nullptr;
  if (succeeded(api, ort::GetTensorMemoryInfo(api, tensor, &memory), error) &&
      !succeeded(api, ort::KernelContext_GetAllocator(api, context, memory, &allocator_), error))
    allocator_ = nullptr;
}

TensorAllocator::~TensorAllocator() {
  if (allocator_ != nullptr) ort::ReleaseAllocator(api_, allocator_);
}

OrtAllocator* TensorAllocator::release() {
  return std::exchange(allocator_, nullptr);
}

bool node_name(const OrtApi* api, const OrtKernelInfo* info, Array<char>& name, lehr_error& error) {
  std::size_t size = 0;
  return succeeded(api, ort::KernelInfo_GetNodeName(api, info, nullptr, &size), error) &&
         name.resize(size + 1) &&
         succeeded(api, ort::KernelInfo_GetNodeName(api, info, name.data(), &size), error);
}

bool text_attribute(const OrtApi* api, const OrtKernelInfo* info, const char* name, Array<char>& text,
                    lehr_error& error) {
  std::size_t size = 0;
  if (!succeeded(api, ort::KernelInfoGetAttribute_string(api, info, name, nullptr, &size), error))
    return false;
  if (!text.resize(size + 1)) {
    runtime::fail(&error, LEHR_NO_MEMORY, "there is no memory for the attribute '%s'", name);
    return false;
  }
  return succeeded(api, ort::KernelInfoGetAttribute_string(api, info, name, text.data(), &size), error);
}

void log(const OrtApi* api, const OrtLogger* logger, OrtLoggingLevel level, const char* message) {
  if (logger != nullptr)
    ignore(api, ort::Logger_LogMessage(api, logger, level, message, "liblehr_onnxruntime.so", 0, "lehr"));
}

}  // namespace lehr::onnxruntime
