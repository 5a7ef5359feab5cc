// Bytes and texts as other formats write them.
#pragma once

#include <string>
#include <string_view>

namespace lehr {

/// `text` for HTML and XML, attributes included.
std::string html_escaped(std::string_view text);
/// Base64 (RFC 4648) of the bytes that pairs of hexadecimal digits, in small letters, are.
std::string base64_of_hex(std::string_view hex);

}  // namespace lehr
