// A model's folder on disk, with the files that may lie in one: constants, links, pipes.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "network/onnx.h"
#include "network/protobuf.h"

namespace lehr::testing {

/// A model's folder within another one, both with a file of four elements: 1, 2, 3, 4.
class ModelFolders {
 public:
  ModelFolders()
      : root_(std::filesystem::temp_directory_path() / ("lehr_constants_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(root_ / "model" / "below");
    const float values[] = {1, 2, 3, 4};
    for (const std::filesystem::path& path :
         {root_ / "outside", root_ / "model" / "weights", root_ / "model" / "below" / "w"})
      std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(values), sizeof values);
    std::filesystem::create_symlink(root_ / "outside", root_ / "model" / "link");
    std::filesystem::create_symlink("weights", root_ / "model" / "good_link");
    mkfifo((root_ / "model" / "pipe").c_str(), 0600);
    std::filesystem::create_symlink("pipe", root_ / "model" / "link_to_pipe");
    std::filesystem::create_symlink("/dev/zero", root_ / "model" / "device");
  }
  ~ModelFolders() { std::filesystem::remove_all(root_); }

  static std::string tensor(const std::string& location, const std::string& offset, const std::string& length,
                            std::int64_t count, OnnxType type = OnnxType::kF32) {
    const auto entry = [](const char* key, const std::string& value) {
      return bytes_field(13, bytes_field(1, key) + bytes_field(2, value));
    };
    std::string tensor = number_field(1, count) + number_field(2, static_cast<std::int64_t>(type)) +
                         bytes_field(8, "w") + number_field(14, 1) + entry("location", location);
    if (!offset.empty()) tensor += entry("offset", offset);
    if (!length.empty()) tensor += entry("length", length);
    return tensor;
  }

  OnnxModel model(const std::string& graph) const {
    OnnxModel model =
        parse_onnx(std::make_shared<std::string>(number_field(1, 8) + bytes_field(8, number_field(2, 17)) +
                                                 bytes_field(7, graph)),
                   "it");
    model.folder = (root_ / "model").string();
    return model;
  }

  std::string root() const { return root_.string(); }

 private:
  std::filesystem::path root_;
};

}  // namespace lehr::testing
