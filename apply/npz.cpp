// Reads the formats zip (https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, 4.3) and npy
// (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html).
#include "apply/npz.h"

#include <cstring>
#include <string_view>

#include "base/error.h"
#include "base/file_kind.h"
#include "base/text.h"
#include "base/text_file.h"
#include "deploy/folder_files.h"

namespace lehr {
namespace {

constexpr std::size_t kMostBytes = std::size_t{2} << 30;  // upper limit for one array

/// Reads a file's bytes at offsets. An offset outside of the bytes means that the file is damaged; all
/// functions then throw.
class Bytes {
 public:
  Bytes(std::string_view bytes, const std::string& shown) : bytes_(bytes), shown_(shown) {}

  std::string_view at(std::size_t begin, std::size_t size) const {
    if (begin > bytes_.size() || size > bytes_.size() - begin) throw_user("{} is damaged or cut", shown_);
    return bytes_.substr(begin, size);
  }
  std::size_t number(std::size_t begin, std::size_t size) const {
    std::uint64_t value = 0;
    std::memcpy(&value, at(begin, size).data(), size);
    return value;
  }
  std::size_t size() const { return bytes_.size(); }

 private:
  std::string_view bytes_;
  const std::string& shown_;
};

/// Returns the uncompressed bytes of a member of the archive. `entry` is the offset of its entry in the
/// directory.
std::string member(const Bytes& file, std::size_t entry, const std::string& shown) {
  constexpr std::size_t kStored = 0, kDeflated = 8, kElsewhere = 0xffffffff;
  const std::size_t method = file.number(entry + 10, 2), packed = file.number(entry + 20, 4),
                    size = file.number(entry + 24, 4), header = file.number(entry + 42, 4);
  if (packed == kElsewhere || size == kElsewhere || header == kElsewhere || size > kMostBytes)
    throw_user("{} is larger than {} GiB", shown, kMostBytes >> 30);
  const std::size_t begin = header + 30 + file.number(header + 26, 2) + file.number(header + 28, 2);
  const std::string_view bytes = file.at(begin, packed);
  if (method == kDeflated) return inflated(bytes, size, shown);
  if (method != kStored || packed != size) throw_user("{} is packed in a way that NumPy does not use", shown);
  return std::string(bytes);
}

/// Returns the value of a key in the text of a Python dictionary, as <f4 in 'descr': '<f4'. `begin` and `end`
/// enclose the value.
std::string_view value_of(std::string_view header, std::string_view key, char begin, char end) {
  const std::size_t at = header.find(key);
  if (at == std::string_view::npos) return {};
  const std::size_t first = header.find(begin, at + key.size());
  if (first == std::string_view::npos) return {};
  const std::size_t last = header.find(end, first + 1);
  return last == std::string_view::npos ? std::string_view() : header.substr(first + 1, last - first - 1);
}

/// Returns the elements in row-major order. The array stores them in column-major order.
std::string row_major(const NpzArray& array, std::size_t size) {
  std::string bytes(array.bytes.size(), '\0');
  const std::size_t count = size == 0 ? 0 : bytes.size() / size;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t rest = i, from = 0, stride = 1;
    std::vector<std::size_t> match(array.shape.size());
    for (std::size_t dim = match.size(); dim-- > 0;) {
      match[dim] = rest % static_cast<std::size_t>(array.shape[dim]);
      rest /= static_cast<std::size_t>(array.shape[dim]);
    }
    for (std::size_t dim = 0; dim < match.size(); ++dim) {
      from += match[dim] * stride;
      stride *= static_cast<std::size_t>(array.shape[dim]);
    }
    std::memcpy(bytes.data() + i * size, array.bytes.data() + from * size, size);
  }
  return bytes;
}

NpzArray array_of(const std::string& name, const std::string& npy, const std::string& shown) {
  const Bytes file(npy, shown);
  if (!npy.starts_with("\x93NUMPY")) throw_user("{} is no array of NumPy's", shown);
  const std::size_t length_size = file.number(6, 1) == 1 ? 2 : 4, length = file.number(8, length_size);
  const std::string_view header = file.at(8 + length_size, length);
  NpzArray array = {name, std::string(value_of(header, "'descr':", '\'', '\'')), {}, {}};
  const std::string_view type = array.type;
  const auto size = type.size() > 2 ? parse_int(type.substr(2)) : std::nullopt;
  if (!size || *size < 1 || *size > 8 || (type[0] != '<' && type[0] != '|') ||
      std::string_view("fiubV").find(type[1]) == std::string_view::npos)
    throw_user("{} is of NumPy's type '{}': numbers of a machine with little-endian order are read", shown,
               type);
  std::size_t bytes = static_cast<std::size_t>(*size);
  for (const std::string_view dim : split(value_of(header, "'shape':", '(', ')'), ',')) {
    if (dim.find_first_not_of(' ') == std::string_view::npos) continue;
    const auto value = parse_int(dim.substr(dim.find_first_not_of(' ')));
    if (!value || *value < 0 || __builtin_mul_overflow(bytes, static_cast<std::size_t>(*value), &bytes))
      throw_user("{} has no shape that is known", shown);
    array.shape.push_back(*value);
  }
  array.bytes = file.at(8 + length_size + length, bytes);
  if (header.find("'fortran_order': True") != std::string_view::npos)
    array.bytes = row_major(array, static_cast<std::size_t>(*size));
  return array;
}

}  // namespace

std::vector<NpzArray> read_npz(const std::string& path) {
  if (const std::string_view kind = kind_if_no_file(path); !kind.empty())
    throw_user("{} is {} and no .npz file", path, kind);
  const std::string bytes = read_bytes(path);
  const std::size_t end = bytes.rfind("PK\5\6");
  if (!bytes.starts_with("PK") || end == std::string::npos)
    throw_user(
        "{} is no .npz file: numpy.savez('inputs.npz', x=...) writes one, with an array for each input",
        path);
  const Bytes file(bytes, path);
  std::vector<NpzArray> arrays;
  std::size_t entry = file.number(end + 16, 4);
  for (std::size_t i = 0, count = file.number(end + 10, 2); i < count; ++i) {
    if (file.at(entry, 4) != "PK\1\2") throw_user("{} is damaged: its directory is", path);
    const std::size_t name_size = file.number(entry + 28, 2);
    std::string name(file.at(entry + 46, name_size));
    const std::string shown = fmt::format("{}: '{}'", path, name);
    if (!name.ends_with(".npy")) throw_user("{} is no array of NumPy's", shown);
    arrays.push_back(array_of(name.substr(0, name.size() - 4), member(file, entry, shown), shown));
    entry += 46 + name_size + file.number(entry + 30, 2) + file.number(entry + 32, 2);
  }
  return arrays;
}

}  // namespace lehr
