#include "database/save_copy.h"

#include <fmt/core.h>

#include <filesystem>

#include "base/error.h"
#include "database/sqlite.h"

namespace lehr {

std::string save_copy(const sqlite::Connection& source, const std::string& wanted) {
  namespace fs = std::filesystem;
  const std::string part = wanted + ".part";
  std::error_code error;
  fs::remove(part, error);  // an earlier copy that was cut off may have left it
  {
    const sqlite::Connection copy(part, sqlite::Mode::kReadWrite);
    source.copy_to(copy);
  }
  std::string name = wanted;
  for (int i = 2; fs::exists(name, error); ++i) name = fmt::format("{}.{}", wanted, i);
  fs::rename(part, name, error);
  if (error) throw_environment("the copy '{}' cannot be made: {}", name, error.message());
  return name;
}

}  // namespace lehr
