#include "base/error.h"

#include <cstring>

namespace lehr {

void throw_error(ErrorKind kind, fmt::string_view format, fmt::format_args args) {
  throw Error(kind, fmt::vformat(format, args));
}

void check_failed(const char* condition, const char* file, int line, const std::string& detail) {
  const char* slash = std::strrchr(file, '/');
  throw Error(ErrorKind::kInternal,
              fmt::format("internal error: {} does not hold at {}:{}{}{}", condition,
                          slash ? slash + 1 : file, line, detail.empty() ? "" : ": ", detail));
}

}  // namespace lehr
