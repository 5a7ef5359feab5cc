// The engine's answers as sentences, and its tensors as shapes and addresses.
#pragma once

#include "plugin/onnxruntime_api.h"
#include "plugin/types.h"
#include "runtime/memory.h"

namespace lehr::onnxruntime {

using runtime::Array;

/// The end of a sentence about what went wrong; "": nothing has yet.
struct Sentence {
  char text[512] = "";
};
/// Writes it, cut to what fits. Returns false.
[[gnu::format(printf, 2, 3), gnu::cold]] bool refuse(Sentence& error, const char* format, ...);

/// Whether a call succeeded. If not, `error` has what the engine said, whose status is released.
bool succeeded(const OrtApi* api, OrtStatus* status, Sentence& error);
/// What a plug-in's function returns: "node 'NAME': WHAT".
OrtStatus* failed(const OrtApi* api, const char* node, const Sentence& error);

/// False with a sentence, also for a tensor of more dimensions than are served.
bool shape_of(const OrtApi* api, const OrtValue* tensor, Shape& shape, Sentence& error);
/// Of an input as the model has it; kUndefined where it is no tensor. False with a sentence.
bool input_type(const OrtApi* api, const OrtKernelInfo* info, std::size_t input, OrtElementType& type,
                Sentence& error);
/// The address of a tensor's elements, which may be nullptr where it has none. False with a sentence.
bool data_of(const OrtApi* api, const OrtValue* tensor, void*& data, Sentence& error);

/// A node's name, with a 0 behind it. False with a sentence.
bool node_name(const OrtApi* api, const OrtKernelInfo* info, Array<char>& name, Sentence& error);
/// Attributes of a node. False with a sentence where it has none of that name and type.
bool text_attribute(const OrtApi* api, const OrtKernelInfo* info, const char* name, Array<char>& text,
                    Sentence& error);
bool ints_attribute(const OrtApi* api, const OrtKernelInfo* info, const char* name, Array<std::int64_t>& ints,
                    Sentence& error);

}  // namespace lehr::onnxruntime
