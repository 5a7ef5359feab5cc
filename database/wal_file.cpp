#include "database/wal_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <vector>

namespace lehr {
namespace {

constexpr std::size_t kHeaderBytes = 32, kFrameHeaderBytes = 24;

std::uint32_t big_endian(const unsigned char* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 |
         bytes[3];
}
std::uint32_t little_endian(const unsigned char* bytes) {
  return std::uint32_t{bytes[3]} << 24 | std::uint32_t{bytes[2]} << 16 | std::uint32_t{bytes[1]} << 8 |
         bytes[0];
}

/// The running checksum over header and frames.
struct Sum {
  std::uint32_t a = 0, b = 0;
  friend bool operator==(const Sum&, const Sum&) = default;
};
Sum stored_sum(const unsigned char* bytes) {
  return {big_endian(bytes), big_endian(bytes + 4)};
}
/// Returns `sum` with `count` bytes added; `count` is a multiple of 8.
Sum added(Sum sum, const unsigned char* bytes, std::size_t count, bool is_big) {
  for (std::size_t i = 0; i < count; i += 8) {
    sum.a += (is_big ? big_endian(bytes + i) : little_endian(bytes + i)) + sum.b;
    sum.b += (is_big ? big_endian(bytes + i + 4) : little_endian(bytes + i + 4)) + sum.a;
  }
  return sum;
}

struct Header {
  bool is_valid = false, is_big = false;
  std::uint32_t page_bytes = 0;
  std::array<unsigned char, 8> salts = {};
  Sum sum;
};
Header header_of(const std::vector<unsigned char>& bytes) {
  constexpr std::uint32_t kMagic = 0x377f0682;  // its last bit is the byte order of the checksums' words
  Header header;
  const std::uint32_t magic = big_endian(bytes.data());
  header.is_big = (magic & 1) != 0;
  header.page_bytes = big_endian(bytes.data() + 8);
  std::copy_n(bytes.begin() + 16, 8, header.salts.begin());
  header.sum = stored_sum(bytes.data() + 24);
  header.is_valid = (magic & ~1u) == kMagic && header.page_bytes >= 512 && header.page_bytes <= 65536 &&
                    added({}, bytes.data(), 24, header.is_big) == header.sum;
  return header;
}

class Frames {
 public:
  Frames(std::ifstream& file, const Header& header)
      : file_(file), header_(header), bytes_(kFrameHeaderBytes + header.page_bytes) {}

  bool next() {
    file_.read(reinterpret_cast<char*>(bytes_.data()), static_cast<std::streamsize>(bytes_.size()));
    return file_.gcount() == static_cast<std::streamsize>(bytes_.size());
  }
  bool has_salts() const {
    return std::equal(header_.salts.begin(), header_.salts.end(), bytes_.begin() + 8);
  }
  std::array<unsigned char, 8> salts() const {
    std::array<unsigned char, 8> result;
    std::copy_n(bytes_.begin() + 8, 8, result.begin());
    return result;
  }
  std::uint32_t page() const { return big_endian(bytes_.data()); }
  bool ends_transaction() const { return big_endian(bytes_.data() + 4) != 0; }
  Sum sum() const { return stored_sum(bytes_.data() + 16); }
  /// Returns whether the frame continues a sequence of frames whose checksum is `before`.
  bool follows(Sum before) const {
    const Sum of_header = added(before, bytes_.data(), 8, header_.is_big);
    return has_salts() &&
           added(of_header, bytes_.data() + kFrameHeaderBytes, header_.page_bytes, header_.is_big) == sum();
  }

 private:
  std::ifstream& file_;
  const Header& header_;
  std::vector<unsigned char> bytes_;
};

/// Returns the number of transactions, at most two, that end in one continuous sequence of frames from the
/// current frame on; the current frame counts if it ends one. Each frame is checked against the checksum in
/// the frame before it. If it does not continue that checksum, another sequence begins: several crashes may
/// leave frames one after the other that were not written together. `end_page` is the page of the frame
/// before the current one, if that frame ended a transaction.
int ends_from(Frames& frames, std::uint32_t end_page) {
  const bool ends_one = frames.has_salts() && frames.ends_transaction();
  int ends = ends_one && frames.page() != end_page ? 1 : 0;
  end_page = ends_one ? frames.page() : 0;
  for (Sum before = frames.sum(); ends < 2 && frames.next(); before = frames.sum()) {
    const bool follows = frames.follows(before);
    if (!follows) ends = 0;
    const bool is_end = follows && frames.ends_transaction();
    // The last frame may be written several times to fill a disk's sector. These frames count as one end.
    if (is_end && frames.page() != end_page) ++ends;
    end_page = is_end ? frames.page() : 0;
  }
  return ends;
}

/// Returns the number of the damaged frame, counted from 1; 0 if all frames are sound. The first end of a
/// transaction after an invalid frame may belong to the frame's own transaction, and a crash can leave such a
/// state. So a second end is needed: the next transaction was written only after this one was durable.
std::uint64_t damaged_frame(std::ifstream& file, const Header& header) {
  Frames frames(file, header);
  Sum before = header.sum;
  std::uint64_t number = 1;
  std::uint32_t end_page = 0;
  bool more = frames.next();
  for (; more && frames.follows(before); more = frames.next(), ++number) {
    before = frames.sum();
    end_page = frames.ends_transaction() ? frames.page() : 0;
  }
  return more && ends_from(frames, end_page) == 2 ? number : 0;
}

/// Returns whether frames follow an invalid header. Such a header gives neither salts nor byte order.
bool has_transactions(std::ifstream& file, Header header) {
  for (const bool is_big : {false, true}) {
    file.clear();
    file.seekg(kHeaderBytes);
    header.is_big = is_big;
    Frames frames(file, header);
    if (!frames.next()) return false;
    header.salts = frames.salts();
    if (ends_from(frames, 0) == 2) return true;
  }
  return false;
}

}  // namespace

std::string damage_of_wal(const std::filesystem::path& path) {
  const std::string name = path.string() + "-wal";
  std::ifstream file(name, std::ios::binary);
  std::vector<unsigned char> first(kHeaderBytes);
  file.read(reinterpret_cast<char*>(first.data()), kHeaderBytes);
  if (file.gcount() != static_cast<std::streamsize>(kHeaderBytes)) return "";
  const Header header = header_of(first);
  if (header.page_bytes < 512 || header.page_bytes > 65536) return "";
  std::string where;
  if (!header.is_valid)
    where = has_transactions(file, header) ? "its header" : "";
  else if (const std::uint64_t frame = damaged_frame(file, header); frame > 0)
    where = fmt::format("its frame {}", frame);
  if (where.empty()) return "";
  return fmt::format("'{}' is damaged in {}, and transactions lie behind it that would be lost", name, where);
}

}  // namespace lehr
