#include "deploy/shipped.h"

#include <algorithm>

#include "base/error.h"

namespace lehr {

std::string_view shipped_text(std::string_view path) {
  const std::span<const ShippedFile> files = shipped_files();
  const auto found = std::ranges::find(files, path, &ShippedFile::path);
  CHECK(found != files.end(), "no {} is shipped", path);
  return found->text;
}

}  // namespace lehr
