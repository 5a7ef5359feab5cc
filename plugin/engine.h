// Turns the engine's errors into sentences, and its tensors into shapes and addresses.
#pragma once

#include "plugin/onnxruntime_api.h"
#include "plugin/types.h"
#include "runtime/memory.h"

namespace lehr::onnxruntime {

using runtime::Array;

/// A sentence about an error, without its beginning (failed() adds the name of the node). "": no error has
/// occurred.
struct Sentence {
  char text[512] = "";
};
/// Formats a sentence into `error`. A sentence that is too long is cut. Always returns false, which a caller
/// can return in turn.
[[gnu::format(printf, 2, 3), gnu::cold]] bool refuse(Sentence& error, const char* format, ...);

/// Returns whether a call of the engine succeeded, from the status that the call returned. If the call
/// failed, copies the engine's message to `error` and releases the status.
bool succeeded(const OrtApi* api, OrtStatus* status, Sentence& error);
/// Returns a new status that reports the error to the engine. Its message is "node 'NAME': ERROR".
OrtStatus* failed(const OrtApi* api, const char* node, const Sentence& error);

/// Reads a tensor's shape. On failure, which includes too many dimensions, returns false and writes a
/// sentence to `error`.
bool shape_of(const OrtApi* api, const OrtValue* tensor, Shape& shape, Sentence& error);
/// Reads the type that the model states for an input; kUndefined if the input is not a tensor. On failure,
/// returns false and writes a sentence to `error`.
bool input_type(const OrtApi* api, const OrtKernelInfo* info, std::size_t input, OrtElementType& type,
                Sentence& error);
/// Reads the address of a tensor's elements, which may be nullptr if the tensor has no elements. On failure,
/// returns false and writes a sentence to `error`.
bool data_of(const OrtApi* api, const OrtValue* tensor, void*& data, Sentence& error);

/// Reads a node's name as text that ends with a zero byte. On failure, returns false and writes a sentence to
/// `error`.
bool node_name(const OrtApi* api, const OrtKernelInfo* info, Array<char>& name, Sentence& error);
/// Read attributes of a node. If the node has no attribute of this name and type, return false and write a
/// sentence to `error`.
bool text_attribute(const OrtApi* api, const OrtKernelInfo* info, const char* name, Array<char>& text,
                    Sentence& error);
bool ints_attribute(const OrtApi* api, const OrtKernelInfo* info, const char* name, Array<std::int64_t>& ints,
                    Sentence& error);

}  // namespace lehr::onnxruntime
