// A SQLite file as bytes on a disk: its pages and the table rows on them. It is read without SQLite, so that
// damage to one page costs the rows of that page only. Source: sqlite.org/fileformat2.html, sections 1.6
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

  /// Calls `found` for all that looks like a table row, on every page whatever its type says. A row that is
  /// also on older versions of its page in the log is found more than once.
  void cells(const std::function<void(const CellPlace&)>& found);
  /// Returns the values of a row, a blob as NULL; nullopt if the bytes are not a row. The cost of all calls
  /// together is proportional to the file, whatever it holds. Numbers are as stored: SQLite keeps a REAL
  /// without fraction as an integer.
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
  std::unordered_map<std::uint32_t, std::uint32_t> newest_;  // image of each page, by the page's number
  std::vector<unsigned char> page_, overflow_;               // the last ones read
  std::uint32_t page_image_ = UINT32_MAX;
  std::uint64_t chained_ = 0;  // overflow pages read so far
};

}  // namespace lehr
