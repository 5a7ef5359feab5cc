#include "database/page_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <span>

#include "base/error.h"
#include "base/file_kind.h"
#include "base/power_of_two.h"

namespace lehr {
namespace {

using Bytes = std::span<const unsigned char>;

constexpr std::uint32_t kDefaultPage = 4096;
constexpr std::uint64_t kLogHeader = 32, kFrameHeader = 24;
constexpr std::uint64_t kMostPayload = 64u << 20;  // the same limit as in sqlite.cpp

std::uint64_t big_endian(Bytes bytes) {
  std::uint64_t value = 0;
  for (const unsigned char byte : bytes) value = value << 8 | byte;
  return value;
}

/// Removes a variable-length integer from the front and returns it; nullopt if the bytes end before it does.
std::optional<std::uint64_t> take_varint(Bytes& bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 9 && i < bytes.size(); ++i) {
    const unsigned char byte = bytes[i];
    value = i == 8 ? value << 8 | byte : value << 7 | (byte & 0x7f);
    if (i == 8 || byte < 0x80) {
      bytes = bytes.subspan(i + 1);
      return value;
    }
  }
  return std::nullopt;
}

/// Reads bytes. Bytes that are past the end or unreadable become zero. Returns false if nothing could be
/// read.
bool read_at(int file, std::uint64_t at, std::vector<unsigned char>& into) {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t count =
        ::pread(file, into.data() + done, into.size() - done, static_cast<off_t>(at + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  std::fill(into.begin() + static_cast<std::ptrdiff_t>(done), into.end(), 0);
  return done > 0;
}

std::uint64_t size_of(int file) {
  struct stat info = {};
  return ::fstat(file, &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

std::uint32_t valid_page_size(std::uint64_t size) {
  return size >= 512 && size <= 65536 && is_power_of_two(size) ? static_cast<std::uint32_t>(size) : 0;
}

/// Removes the value of one serial type from the front of `body` and returns it; nullopt if bytes are
/// missing.
std::optional<sqlite::Value> take_value(std::uint64_t type, Bytes& body) {
  constexpr std::array<std::size_t, 10> kLength = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};
  if (type == 10 || type == 11) return std::nullopt;
  const std::uint64_t length = type < 10 ? kLength[type] : (type - 12) / 2;
  if (length > body.size()) return std::nullopt;
  const Bytes bytes = body.first(length);
  body = body.subspan(length);
  if (type == 0) return sqlite::Value();
  if (type == 8 || type == 9) return sqlite::Value(static_cast<std::int64_t>(type - 8));
  if (type == 7) {
    const auto real = std::bit_cast<double>(big_endian(bytes));
    return std::isnan(real) ? sqlite::Value() : sqlite::Value(real == 0 ? 0.0 : real);
  }
  if (type < 7) {
    const int unused = 64 - static_cast<int>(length) * 8;  // the sign is in the first byte
    return sqlite::Value(std::bit_cast<std::int64_t>(big_endian(bytes) << unused) >> unused);
  }
  if (type % 2 == 0) return sqlite::Value();
  return sqlite::Value(std::string(bytes.begin(), bytes.end()));
}

/// Maximum number of overflow pages that are read, per image of the file. In a sound file an overflow page
/// belongs to one row, which is read once for each image of its page and each of salvage()'s passes. In a
/// hostile file many rows may share overflow pages. Beyond this limit, rows with overflow pages are not read.
constexpr std::uint64_t kMostChained = 64;

}  // namespace

PageFile::PageFile(const std::filesystem::path& path) {
  if (const std::string_view kind = kind_if_no_file(path); !kind.empty())
    throw_user("'{}' is {}; the name of a database file is needed", path.string(), kind);
  file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file_ < 0) throw_user("'{}' cannot be read: {}", path.string(), std::strerror(errno));
  find_images(path);
}

PageFile::~PageFile() {
  ::close(file_);
  if (log_ >= 0) ::close(log_);
}

void PageFile::find_images(const std::filesystem::path& path) {
  std::vector<unsigned char> header(100);
  read_at(file_, 0, header);
  const std::uint64_t stated = big_endian(Bytes(header).subspan(16, 2));
  page_size_ = valid_page_size(stated == 1 ? 65536 : stated);
  log_ = ::open((path.string() + "-wal").c_str(), O_RDONLY | O_CLOEXEC);
  std::vector<unsigned char> log_header(kLogHeader);
  if (log_ >= 0 && read_at(log_, 0, log_header) && page_size_ == 0)
    page_size_ = valid_page_size(big_endian(Bytes(log_header).subspan(8, 4)));
  if (page_size_ == 0) page_size_ = kDefaultPage;
  page_.resize(page_size_);
  overflow_.resize(page_size_);

  const std::uint64_t size = size_of(file_);
  for (std::uint64_t at = 0; at < size; at += page_size_)
    images_.push_back({file_, at, static_cast<std::uint32_t>(at / page_size_ + 1)});
  if (log_ >= 0) {
    std::vector<unsigned char> frame(kFrameHeader);
    const std::uint64_t log_size = size_of(log_);
    for (std::uint64_t at = kLogHeader; at + kFrameHeader < log_size; at += kFrameHeader + page_size_) {
      read_at(log_, at, frame);
      images_.push_back(
          {log_, at + kFrameHeader, static_cast<std::uint32_t>(big_endian(Bytes(frame).first(4)))});
    }
  }
  for (std::uint32_t i = 0; i < images_.size(); ++i) newest_[images_[i].page] = i;
}

const std::vector<unsigned char>& PageFile::read(std::uint32_t image) {
  if (image != page_image_) read_at(images_[image].file, images_[image].at, page_);
  page_image_ = image;
  return page_;
}

void PageFile::cells(const std::function<void(const CellPlace&)>& found) {
  // No payload is longer than the file. This limit ends circular chains of pages.
  const std::uint64_t most = std::min<std::uint64_t>(kMostPayload, images_.size() * page_size_);
  for (std::uint32_t image = 0; image < images_.size(); ++image) {
    const Bytes page(read(image));
    const std::size_t start = images_[image].page == 1 ? 100 : 0;  // page 1 begins with the file's header
    const std::size_t stated = big_endian(page.subspan(start + 3, 2));
    const std::size_t room = (page.size() - start - 8) / 2;
    std::vector<bool> seen(page.size());  // a hostile page may list one cell a thousand times
    for (std::size_t i = 0; i < std::min(stated, room); ++i) {
      const auto offset = static_cast<std::uint16_t>(big_endian(page.subspan(start + 8 + 2 * i, 2)));
      if (offset >= page.size() || seen[offset]) continue;
      seen[offset] = true;
      Bytes cell = page.subspan(offset);
      const auto length = take_varint(cell);
      const auto rowid = take_varint(cell);
      if (length && rowid && *length > 0 && *length <= most)
        found({std::bit_cast<std::int64_t>(*rowid), image, offset});
    }
  }
}

// Section 1.6: a part of the payload is on the page itself, and the rest is in a chain of overflow pages.
std::optional<std::string> PageFile::payload_at(const CellPlace& place) {
  Bytes cell = Bytes(read(place.image)).subspan(place.offset);
  const auto length = take_varint(cell);
  if (!length || !take_varint(cell) || *length > kMostPayload) return std::nullopt;
  const std::uint64_t usable = page_size_, most = usable - 35, least = (usable - 12) * 32 / 255 - 23;
  std::uint64_t local = *length;
  if (*length > most) {
    local = least + (*length - least) % (usable - 4);
    if (local > most) local = least;
  }
  if (local > cell.size()) return std::nullopt;
  std::string payload(cell.begin(), cell.begin() + static_cast<std::ptrdiff_t>(local));
  if (local == *length) return payload;
  if (cell.size() < local + 4) return std::nullopt;
  std::uint64_t next = big_endian(cell.subspan(local, 4));
  while (payload.size() < *length) {
    const auto image = newest_.find(static_cast<std::uint32_t>(next));
    if (image == newest_.end() || chained_ >= kMostChained * images_.size()) return std::nullopt;
    ++chained_;
    if (!read_at(images_[image->second].file, images_[image->second].at, overflow_)) return std::nullopt;
    next = big_endian(Bytes(overflow_).first(4));
    const std::size_t count = std::min<std::size_t>(*length - payload.size(), usable - 4);
    payload.append(overflow_.begin() + 4, overflow_.begin() + 4 + static_cast<std::ptrdiff_t>(count));
  }
  return payload;
}

std::optional<sqlite::Row> PageFile::row_at(const CellPlace& place) {
  const std::optional<std::string> payload = payload_at(place);
  if (!payload) return std::nullopt;
  const Bytes bytes(reinterpret_cast<const unsigned char*>(payload->data()), payload->size());
  Bytes types = bytes;
  const auto header = take_varint(types);
  if (!header || *header > bytes.size() || *header < bytes.size() - types.size()) return std::nullopt;
  types = types.first(*header - (bytes.size() - types.size()));
  Bytes body = bytes.subspan(*header);
  sqlite::Row row;
  while (!types.empty()) {
    const auto type = take_varint(types);
    std::optional<sqlite::Value> value = type ? take_value(*type, body) : std::nullopt;
    if (!value) return std::nullopt;
    row.push_back(std::move(*value));
  }
  return row;
}

}  // namespace lehr
