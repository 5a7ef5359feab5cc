// A SQLite file as bytes on a disk: its pages and the table rows on them. It is read without SQLite, so that
// damage to one page costs only the rows of that page. Source: sqlite.org/fileformat2.html, sections 1.6
// (b-tree pages), 2.1 (record format) and 4 (write-ahead log).
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

/// Position of a row in the file.
struct CellPlace {
  std::int64_t rowid = 0;
  std::uint32_t image = 0;   ///< number of the page image
  std::uint16_t offset = 0;  ///< offset of the cell on its page
};

class PageFile {
 public:
  /// Reads `path` and `path`-wal, if that exists. Throws Error(kUser) if the file cannot be opened.
  explicit PageFile(const std::filesystem::path& path);
  PageFile(const PageFile&) = delete;
  ~PageFile();

  /// Calls `found` for everything that looks like a table row, on every page, whatever the page's type says.
  /// If older versions of a page are in the write-ahead log, a row may be found more than once.
  void cells(const std::function<void(const CellPlace&)>& found);
  /// Returns the values of a row, with NULL for a blob; nullopt if the bytes are not a row. The cost of all
  /// calls together is proportional to the file's size, whatever the file contains. Numbers are returned as
  /// stored: SQLite stores a REAL without a fraction as an integer.
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
  std::uint32_t page_size_ = 0;  // page size in the header, or SQLite's default if the header is damaged
  std::vector<Image> images_;
  std::unordered_map<std::uint32_t, std::uint32_t> newest_;  // image of each page, by the page's number
  std::vector<unsigned char> page_, overflow_;               // contents that were read last
  std::uint32_t page_image_ = UINT32_MAX;
  std::uint64_t chained_ = 0;  // overflow pages read so far
};

}  // namespace lehr
