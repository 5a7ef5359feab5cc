#include "base/file_kind.h"

#include <algorithm>
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

bool leads_into(const std::filesystem::path& path, const std::filesystem::path& folder) {
  std::error_code error, other;
  std::filesystem::path below = std::filesystem::weakly_canonical(folder, error);
  if (!below.has_filename()) below = below.parent_path();  // a slash at the end
  const std::filesystem::path whole = std::filesystem::weakly_canonical(path, other);
  return !error && !other && std::ranges::mismatch(below, whole).in1 == below.end();
}

}  // namespace lehr
