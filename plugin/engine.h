// The engine's answers as sentences, and its tensors as shapes and addresses.
#pragma once

#include "plugin/onnxruntime_api.h"
#include "plugin/plan.h"

namespace lehr::onnxruntime {

/// Whether a call succeeded. If not, `error` has what the engine said, whose status is released.
bool succeeded(const OrtApi* api, OrtStatus* status, lehr_error& error);
/// For calls whose failure changes nothing.
void ignore(const OrtApi* api, OrtStatus* status);
/// What a plug-in's function returns: "node 'NAME': WHAT".
OrtStatus* failed(const OrtApi* api, const char* node, const lehr_error& error);

/// An error that has no sentence yet.
inline lehr_error no_error() {
  lehr_error error;
  error.size = sizeof error;
  error.text[0] = '\0';
  return error;
}

/// False with a sentence, also for a tensor of more dimensions than are served.
bool shape_of(const OrtApi* api, const OrtValue* tensor, Shape& shape, lehr_error& error);
/// Of an input as the model has it; kUndefined where it is no tensor. False with a sentence.
bool input_type(const OrtApi* api, const OrtKernelInfo* info, std::size_t input, OrtElementType& type,
                lehr_error& error);
/// nullptr with a sentence.
void* data_of(const OrtApi* api, const OrtValue* tensor, lehr_error& error);

/// The allocator of the memory that a tensor lies in; ends itself.
class TensorAllocator {
 public:
  TensorAllocator(const OrtApi* api, const OrtKernelContext* context, const OrtValue* tensor,
                  lehr_error& error);
  ~TensorAllocator();
  TensorAllocator(const TensorAllocator&) = delete;
  TensorAllocator& operator=(const TensorAllocator&) = delete;
  OrtAllocator* get() const { return allocator_; }  ///< nullptr: there is none, with a sentence
  /// Who calls it ends it.
  OrtAllocator* release();

 private:
  const OrtApi* api_;
  OrtAllocator* allocator_ = nullptr;
};

/// A node's name, with a 0 behind it. False with a sentence, or without one where there is no memory.
bool node_name(const OrtApi* api, const OrtKernelInfo* info, Array<char>& name, lehr_error& error);
/// A text attribute of a node. False with a sentence where it has none.
bool text_attribute(const OrtApi* api, const OrtKernelInfo* info, const char* name, Array<char>& text,
                    lehr_error& error);

/// Into the session's log.
void log(const OrtApi* api, const OrtLogger* logger, OrtLoggingLevel level, const char* message);

}  // namespace lehr::onnxruntime
