#include "network/other_formats.h"

#include <algorithm>
#include <cstdint>

#include "base/text.h"

namespace lehr {
namespace {

using namespace std::string_view_literals;

/// Bytes at an offset that identify a format.
struct Magic {
  std::size_t at;
  std::string_view bytes;
  std::string_view sentence;
};
constexpr Magic kMagics[] = {
    {0, "version https://git-lfs."sv,
     "is a Git LFS pointer, not the file that it stands for: fetch that with git lfs pull"},
    {0, "\x1F\x8B"sv, "is gzipped: unpack it with gunzip"},
    {0,
     "\xFD"
     "7zXZ\0"sv,
     "is compressed by xz: unpack it with unxz"},
    {0, "BZh"sv, "is compressed by bzip2: unpack it with bunzip2"},
    {0, "\x28\xB5\x2F\xFD"sv, "is compressed by zstd: unpack it with unzstd"},
    {0, "7z\xBC\xAF\x27\x1C"sv, "is a 7z archive: unpack it, and give the .onnx file that is in it"},
    {257, "ustar"sv, "is a tar archive: unpack it, and give the .onnx file that is in it"},
    {4, "ORTM"sv, "is of ONNX Runtime's own format (ORT): give the .onnx file that it was made of"},
    {4, "TFL3"sv, "is a TensorFlow Lite model: convert it to ONNX, with tf2onnx for one"},
    {0, "\x89HDF\r\n\x1A\n"sv,
     "is an HDF5 file, as Keras saves models: export the model to ONNX, with tf2onnx for one"},
    {0, "\x93NUMPY"sv, "is an array of NumPy's, no network: give an ONNX model"},
    {0, "GGUF"sv, "is a GGUF file, weights for llama.cpp: export the network to ONNX"},
    {0,
     "\x7F"
     "ELF"sv,
     "is a program or library, no network: give an ONNX model"},
    {0, "%PDF"sv, "is a PDF document, no network: give an ONNX model"},
};

std::string of_zip(std::string_view bytes) {
  // A zip file has the names of its members at its beginning and again at its end.
  constexpr std::size_t kLooked = 1 << 16;
  const auto has = [&](std::string_view name) {
    return bytes.substr(0, kLooked).find(name) != std::string_view::npos ||
           bytes.substr(bytes.size() - std::min(bytes.size(), kLooked)).find(name) != std::string_view::npos;
  };
  if (has("data.pkl") || has("serialized_exported_program"))
    return "is a zip archive with a model as PyTorch saves it: export it to ONNX with torch.onnx.export";
  if (has(".npy")) return "is a zip archive of NumPy's arrays, no network: give an ONNX model";
  return "is a zip archive: unpack it, and give the .onnx file that is in it";
}

std::string of_text(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte order mark
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  const std::string begin = lower_case(text.substr(0, 256));
  if (begin.starts_with("<!doctype html") || begin.find("<html") != std::string::npos ||
      begin.starts_with("<head"))
    return "is a page of HTML, as a download that failed leaves it: fetch the file itself";
  if (begin.starts_with("<?xml"))
    return "is XML, as OpenVINO's models are: give the ONNX model that it was made of";
  if (begin.starts_with("ir_version:") ||
      (begin.starts_with("<") && begin.find("ir_version") != std::string::npos))
    return "is an ONNX model written as text: save it in the binary format with onnx.save";
  if (begin.starts_with("{") || begin.starts_with("["))
    return "is JSON, not ONNX's binary format: give the .onnx file";
  return "";
}

/// Whether the bytes are in the format safetensors: the length of a JSON text, at most 100 MB, and then the
/// text.
bool is_safetensors(std::string_view bytes) {
  constexpr std::uint64_t kMostText = 100'000'000;
  if (bytes.size() < 10 || bytes[8] != '{') return false;
  std::uint64_t length = 0;
  for (std::size_t i = 8; i-- > 0;) length = length << 8 | static_cast<unsigned char>(bytes[i]);
  return length <= kMostText;
}

/// Whether the bytes are a Python pickle of protocol 2 to 5.
bool is_pickle(std::string_view bytes) {
  return bytes.size() > 3 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5;
}

}  // namespace

std::string other_format(std::string_view bytes) {
  if (bytes.empty()) return "is empty: write or fetch the model again";
  for (const Magic& magic : kMagics)
    if (bytes.size() >= magic.at && bytes.substr(magic.at).starts_with(magic.bytes))
      return std::string(magic.sentence);
  for (const std::string_view zip : {"PK\3\4"sv, "PK\5\6"sv, "PK\7\x8"sv})
    if (bytes.starts_with(zip)) return of_zip(bytes);
  if (is_safetensors(bytes))
    return "has weights alone, in the format safetensors: export the network to ONNX";
  if (is_pickle(bytes))
    return "is a pickle, as PyTorch saves models: export the model to ONNX with torch.onnx.export";
  if (bytes.find_first_not_of('\0') == std::string_view::npos)
    return "has nothing but zeros, as a download that failed leaves it: fetch it again";
  return of_text(bytes);
}

}  // namespace lehr
