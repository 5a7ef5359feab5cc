// A whole text file, unpacked if it is gzipped. The only contact with zlib is text_file.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lehr {

/// The bytes of `path`, through gzip where it is that. Throws Error(kUser), one sentence: the file cannot be
/// read, is damaged or cut off, or is larger than `most_bytes` unpacked (the largest public
/// tables have 45 MiB); `what` is what it is to be.
std::string read_text_file(const std::string& path, std::size_t most_bytes = std::size_t{256} << 20,
                           const char* what = "table");

/// What deflated bytes without any header are, `size` of them, as members of zip archives have them. Throws
/// Error(kUser) where they are not so many or damaged; `shown` begins the sentence.
std::string inflated(std::string_view deflated, std::size_t size, const std::string& shown);

}  // namespace lehr
