#include "plugin/engine.h"

#include <cstdarg>
#include <cstdio>

namespace lehr::onnxruntime {

bool refuse(Sentence& error, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(error.text, sizeof error.text, format, arguments);
  va_end(arguments);
  return false;
}

bool succeeded(const OrtApi* api, OrtStatus* status, Sentence& error) {
  if (status == nullptr) return true;
  refuse(error, "%s", ort::GetErrorMessage(api, status));
  ort::ReleaseStatus(api, status);
  return false;
}

OrtStatus* failed(const OrtApi* api, const char* node, const Sentence& error) {
  char whole[sizeof error.text + 256];
  std::snprintf(whole, sizeof whole, "node '%.200s': %s", node, error.text);
  return ort::CreateStatus(api, OrtErrorCode::kFail, whole);
}

bool shape_of(const OrtApi* api, const OrtValue* tensor, Shape& shape, Sentence& error) {
  OrtTensorTypeAndShapeInfo* info = nullptr;
  if (!succeeded(api, ort::GetTensorTypeAndShape(api, tensor, &info), error)) return false;
  bool is_read = succeeded(api, ort::GetDimensionsCount(api, info, &shape.rank), error);
  if (is_read && shape.rank > Shape::kMostRank)
    is_read = refuse(error, "an input has %zu dimensions, more than 8", shape.rank);
  if (is_read) is_read = succeeded(api, ort::GetDimensions(api, info, shape.dims, shape.rank), error);
  ort::ReleaseTensorTypeAndShapeInfo(api, info);
  return is_read;
}

bool input_type(const OrtApi* api, const OrtKernelInfo* info, std::size_t input, OrtElementType& type,
                Sentence& error) {
  type = OrtElementType::kUndefined;
  OrtTypeInfo* reported = nullptr;
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;
  if (!succeeded(api, ort::KernelInfo_GetInputTypeInfo(api, info, input, &reported), error)) return false;
  const bool is_reported =
      succeeded(api, ort::CastTypeInfoToTensorInfo(api, reported, &tensor), error) &&
      (tensor == nullptr || succeeded(api, ort::GetTensorElementType(api, tensor, &type), error));
  ort::ReleaseTypeInfo(api, reported);
  return is_reported;
}

bool data_of(const OrtApi* api, const OrtValue* tensor, void*& data, Sentence& error) {
  return succeeded(api, ort::GetTensorMutableData(api, const_cast<OrtValue*>(tensor), &data), error);
}

bool node_name(const OrtApi* api, const OrtKernelInfo* info, Array<char>& name, Sentence& error) {
  std::size_t size = 0;
  if (!succeeded(api, ort::KernelInfo_GetNodeName(api, info, nullptr, &size), error)) return false;
  return name.resize(size + 1)
             ? succeeded(api, ort::KernelInfo_GetNodeName(api, info, name.data(), &size), error)
             : refuse(error, "there is no memory for its name");
}

bool text_attribute(const OrtApi* api, const OrtKernelInfo* info, const char* name, Array<char>& text,
                    Sentence& error) {
  std::size_t size = 0;
  if (!succeeded(api, ort::KernelInfoGetAttribute_string(api, info, name, nullptr, &size), error))
    return false;
  return text.resize(size + 1)
             ? succeeded(api, ort::KernelInfoGetAttribute_string(api, info, name, text.data(), &size), error)
             : refuse(error, "there is no memory for the attribute '%s'", name);
}

bool ints_attribute(const OrtApi* api, const OrtKernelInfo* info, const char* name, Array<std::int64_t>& ints,
                    Sentence& error) {
  std::size_t count = 0;
  if (!succeeded(api, ort::KernelInfoGetAttributeArray_int64(api, info, name, nullptr, &count), error))
    return false;
  if (count == 0) return true;
  return ints.resize(count)
             ? succeeded(api, ort::KernelInfoGetAttributeArray_int64(api, info, name, ints.data(), &count),
                         error)
             : refuse(error, "there is no memory for the attribute '%s'", name);
}

}  // namespace lehr::onnxruntime
