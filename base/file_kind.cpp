#include "base/file_kind.h"

#include <system_error>

namespace lehr {

std::string_view kind_if_no_file(const std::filesystem::path& path) {
  std::error_code ignored;
  switch (std::filesystem::status(path, ignored).type()) {
    case std::filesystem::file_type::directory:
      return "a directory";
    case std::filesystem::file_type::fifo:
      return "a pipe";
    case std::filesystem::file_type::block:
    case std::filesystem::file_type::character:
      return "a device";
    case std::filesystem::file_type::socket:
      return "a socket";
    default:
      return "";
  }
}

}  // namespace lehr
