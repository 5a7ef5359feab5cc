// Encodes texts and bytes for other formats: HTML, XML, Base64.
#pragma once

#include <string>
#include <string_view>

namespace lehr {

/// Returns `text` escaped for HTML and XML, attributes included.
std::string html_escaped(std::string_view text);
/// Returns Base64 (RFC 4648) of bytes that are given as pairs of lower-case hexadecimal digits.
std::string base64_of_hex(std::string_view hex);

}  // namespace lehr
