// The part of the device-intrinsics header for small types and tensor cores.
#pragma once

#include <string>

namespace lehr {

/// Returns the CUDA text of a snippet, "" for an unknown name.
std::string tensor_snippet(const std::string& name);
/// Returns the name of the snippet that `name` calls, which must be emitted too and sorts before `name`; ""
/// if it calls no snippet.
std::string tensor_snippet_needed_by(const std::string& name);

}  // namespace lehr
