// A whole text file, unpacked if it is gzipped. The only contact with zlib is text_file.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lehr {

/// Returns the bytes of `path`, unpacked if it is gzipped. Throws Error(kUser), one sentence, if the file
/// cannot be read, is damaged or cut off, or is larger than `most_bytes` unpacked (the largest public tables
/// have 45 MiB). `what` names the kind of file in the sentence.
std::string read_text_file(const std::string& path, std::size_t most_bytes = std::size_t{256} << 20,
                           const char* what = "table");

/// Unpacks deflated bytes without any header to `size` bytes, as members of zip archives have them. Throws
/// Error(kUser) if they are damaged or have another size; `shown` begins the sentence.
std::string inflated(std::string_view deflated, std::size_t size, const std::string& shown);

}  // namespace lehr
