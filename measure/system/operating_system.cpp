#include "measure/system/operating_system.h"

#include <fmt/core.h>
#include <sys/utsname.h>

namespace lehr {

std::string operating_system() {
  utsname system{};
  if (uname(&system) != 0) return "";
  // "6.1.0-18-amd64" -> "6.1"
  const std::string release = system.release;
  const std::size_t first = release.find('.');
  const std::size_t second = first == std::string::npos ? first : release.find_first_of(".-", first + 1);
  return fmt::format("{} {} {}", system.sysname, release.substr(0, second), system.machine);
}

}  // namespace lehr
