// A SQLite file as bytes on a disk: its pages and the table rows on them, read without SQLite, so that damage
// to one page costs the rows of that page only. Source: sqlite.org/fileformat2.html, sections 1.6 (b-tree
// pages), 2.1 (record format) and 4 (write-ahead log).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "database/sqlite.h"

namespace lehr {

/// Where a row lies.
struct CellPlace {
  std::int64_t rowid = 0;
  std::uint32_t image = 0;   ///< which page image
  std::uint16_t offset = 0;  ///< of the cell on its page
};

class PageFile {
 public:
  /// Reads `path` and, where it is there, `path`-wal. Throws Error(kUser) if the file cannot be opened.
  explicit PageFile(const std::filesystem::path& path);
  PageFile(const PageFile&) = delete;
  ~PageFile();

  /// Calls `found` for all that looks like a row of a table, on every page whatever the page says it is. What
  /// a page's older versions in the log hold comes up more than once.
  void cells(const std::function<void(const CellPlace&)>& found);
  /// The values of a row, a blob as NULL; nullopt where the bytes are no row. What all calls cost together is
  /// in proportion to the file, whatever it holds. Numbers are as stored: SQLite keeps a REAL without
  /// fraction as an integer.
  std::optional<sqlite::Row> row_at(const CellPlace& place);

 private:
  struct Image {
    int file;            // descriptor
    std::uint64_t at;    // first byte
    std::uint32_t page;  // number, from 1
  };
  void find_images(const std::filesystem::path& path);
  const std::vector<unsigned char>& read(std::uint32_t image);
  std::optional<std::string> payload_at(const CellPlace& place);

  int file_ = -1, log_ = -1;
  std::uint32_t page_size_ = 0;  // as the header states it, or SQLite's default where the header is damaged
  std::vector<Image> images_;
  std::unordered_map<std::uint32_t, std::uint32_t> newest_;  // image of a page by its number
  std::vector<unsigned char> page_, overflow_;               // last ones read
  std::uint32_t page_image_ = UINT32_MAX;
  std::uint64_t chained_ = 0;  // pages of chains that were read
};

}  // namespace lehr
