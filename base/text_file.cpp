// zlib's reader passes plain files through unchanged, and checks the sum at the end of gzipped files.
#include "base/text_file.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>

#include "base/error.h"

namespace lehr {
namespace {

constexpr unsigned kPiece = 1u << 20;

struct Close {
  void operator()(gzFile file) const { gzclose_r(file); }
};

}  // namespace

std::string read_text_file(const std::string& path, std::size_t most_bytes, const char* what) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw_user("{} is a folder; a {} is one file", path, what);
  const std::unique_ptr<gzFile_s, Close> file(gzopen(path.c_str(), "rb"));
  if (!file) throw_user("{} cannot be read: {}", path, std::strerror(errno));
  gzbuffer(file.get(), 1u << 17);
  std::string text;
  for (;;) {
    const std::size_t size = text.size();
    if (size > most_bytes)
      throw_user("{} is larger than {} MiB unpacked, which no {} is expected to be", path, most_bytes >> 20,
                 what);
    text.resize(size + kPiece);
    const int got = gzread(file.get(), text.data() + size, kPiece);
    text.resize(size + static_cast<std::size_t>(std::max(got, 0)));
    if (got == 0) break;
    if (got > 0) continue;
    int code = Z_OK;
    const std::string message = gzerror(file.get(), &code);
    throw_user("{} is damaged after {} unpacked bytes ({}); it must be a whole gzip file", path, text.size(),
               message);
  }
  int code = Z_OK;
  gzerror(file.get(), &code);
  if (code != Z_OK && code != Z_STREAM_END)
    throw_user("{} is cut off after {} unpacked bytes; it must be a whole gzip file", path, text.size());
  return text;
}

std::string inflated(std::string_view deflated, std::size_t size, const std::string& shown) {
  constexpr int kNoHeader = -MAX_WBITS;
  std::string bytes(size, '\0');
  z_stream stream = {};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(deflated.data()));
  stream.avail_in = static_cast<uInt>(deflated.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(size);
  if (inflateInit2(&stream, kNoHeader) != Z_OK) throw std::bad_alloc();
  const int code = inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  if (code != Z_STREAM_END || stream.avail_out != 0)
    throw_user("{} is damaged: its packed bytes are not the {} that it says", shown, size);
  return bytes;
}

}  // namespace lehr
