// Turns the engine's errors into sentences, and its tensors into shapes and addresses.
#pragma once

#include "plugin/onnxruntime_api.h"
#include "plugin/types.h"
#include "runtime/memory.h"

namespace lehr::onnxruntime {

using runtime::Array;

/// The end of a sentence about an error; "": no error yet.
struct Sentence {
  char text[512] = "";
};
/// Writes the sentence, cut to what fits. Returns false.
[[gnu::format(printf, 2, 3), gnu::cold]] bool refuse(Sentence& error, const char* format, ...);

/// Whether a call succeeded. If not, `error` gets the engine's message; the status is released.
bool succeeded(const OrtApi* api, OrtStatus* status, Sentence& error);
/// Returns the status of a plug-in's function: "node 'NAME': WHAT".
OrtStatus* failed(const OrtApi* api, const char* node, const Sentence& error);

/// Reads a tensor's shape. On failure, which includes too many dimensions, returns false and writes a
/// sentence to `error`.
bool shape_of(const OrtApi* api, const OrtValue* tensor, Shape& shape, Sentence& error);
/// Reads the type that the model states for an input; kUndefined if the input is not a tensor. Returns false
/// with a sentence on failure.
bool input_type(const OrtApi* api, const OrtKernelInfo* info, std::size_t input, OrtElementType& type,
                Sentence& error);
/// Reads the address of a tensor's elements, which may be nullptr if it has no elements. Returns false with a
/// sentence on failure.
bool data_of(const OrtApi* api, const OrtValue* tensor, void*& data, Sentence& error);

/// Reads a node's name, which ends in a 0. Returns false with a sentence on failure.
bool node_name(const OrtApi* api, const OrtKernelInfo* info, Array<char>& name, Sentence& error);
/// Read attributes of a node. If the node has no attribute of this name and type, return false and write a
/// sentence to `error`.
bool text_attribute(const OrtApi* api, const OrtKernelInfo* info, const char* name, Array<char>& text,
                    Sentence& error);
bool ints_attribute(const OrtApi* api, const OrtKernelInfo* info, const char* name, Array<std::int64_t>& ints,
                    Sentence& error);

}  // namespace lehr::onnxruntime
