// A whole text file, unpacked if it is gzipped. The only contact with zlib is text_file.cpp.
#pragma once

#include <string>

namespace lehr {

/// The bytes of `path`, through gzip where it is that. Throws Error(kUser), one sentence: the file cannot be
/// read, is damaged or cut off, or is larger than 2 GiB unpacked.
std::string read_text_file(const std::string& path);

}  // namespace lehr
