// What a file is that is given for a network and is none.
#pragma once

#include <string>
#include <string_view>

namespace lehr {

/// What the bytes are instead of an ONNX model, and what would be right, as the end of a sentence that begins
/// with the file: "is gzipped: unpack it with gunzip". "" for what is not known.
std::string other_format(std::string_view bytes);

}  // namespace lehr
