// Recognizes files that were given as a network but are in another format.
#pragma once

#include <string>
#include <string_view>

namespace lehr {

/// Names the format of bytes that are not an ONNX model, and says what to do, as in "is gzipped: unpack it
/// with gunzip". The text continues a sentence that begins with the file's name. Returns "" if the format is
/// not known.
std::string other_format(std::string_view bytes);

}  // namespace lehr
