#include "tests/replay/support.h"

#include <unistd.h>
#include <zlib.h>

#include <fstream>

namespace lehr::testing {

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "lehr_replay_XXXXXX").string();
  path_ = mkdtemp(name.data());
}

Folder::~Folder() {
  std::filesystem::remove_all(path_);
}

std::string Folder::file(const std::string& name, const std::string& content) const {
  const std::string path = (path_ / name).string();
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

std::string Folder::gzipped(const std::string& name, const std::string& content) const {
  const std::string path = (path_ / name).string();
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, content.data(), static_cast<unsigned>(content.size()));
  gzclose(file);
  return path;
}

Table table_of(const std::vector<double>& times_us) {
  Table table;
  table.file = "made up";
  for (std::size_t i = 0; i < times_us.size(); ++i)
    table.rows.push_back({Config{"k", {{"i", static_cast<std::int64_t>(i)}}},
                          times_us[i] > 0 ? std::optional(times_us[i]) : std::nullopt});
  return table;
}

Table bowl() {
  Table table;
  table.file = "bowl";
  for (std::int64_t x = 0; x < 8; ++x)
    for (std::int64_t y = 0; y < 8; ++y)
      for (std::int64_t z = 0; z < 4; ++z) {
        const bool fails = (3 * x + 5 * y + 7 * z) % 10 == 0;
        const double us = 100 + 20.0 * ((x - 5) * (x - 5) + (y - 3) * (y - 3)) + 15.0 * (z - 2) * (z - 2);
        table.rows.push_back(
            {Config{"k", {{"x", x}, {"y", y}, {"z", z}}}, fails ? std::nullopt : std::optional(us)});
      }
  return table;
}

}  // namespace lehr::testing
