#include "database/backup.h"

#include <fmt/core.h>

#include <filesystem>

#include "base/error.h"
#include "database/sqlite.h"

namespace lehr {

std::string back_up(const std::string& path, int version) {
  namespace fs = std::filesystem;
  const std::string wanted = fmt::format("{}.v{}.bak", path, version);
  const std::string part = wanted + ".part";
  std::error_code error;
  fs::remove(part, error);  // of a copy that was cut off
  {
    const sqlite::Connection source(path, sqlite::Mode::kReadOnly);
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
