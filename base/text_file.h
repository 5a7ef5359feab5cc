// Reads whole text files, and unpacks them if they are gzipped. Only text_file.cpp uses zlib.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lehr {

/// Returns the bytes of `path`, unpacked if the file is gzipped. Throws Error(kUser), one sentence, if the
/// file cannot be read, is damaged or truncated, or has more than `most_bytes` bytes unpacked (the largest
/// public tables have 45 MiB). `what` names the kind of file in that sentence.
std::string read_text_file(const std::string& path, std::size_t most_bytes = std::size_t{256} << 20,
                           const char* what = "table");

/// Unpacks deflated bytes without a header, as zip archives contain them, to `size` bytes. Throws
/// Error(kUser) if they are damaged or have another size; the sentence begins with `shown`.
std::string inflated(std::string_view deflated, std::size_t size, const std::string& shown);

}  // namespace lehr
