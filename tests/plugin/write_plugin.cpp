// write_plugin FOLDER: what `lehr apply` puts there, for the test of it with ONNX Runtime.
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>

#include "deploy/onnxruntime_plugin.h"

int main(int count, char** arguments) try {
  const lehr::FolderFile plugin = lehr::onnxruntime_plugin("", {});
  std::ofstream file(std::string(arguments[count - 1]) + "/" + plugin.path, std::ios::binary);
  return file << plugin.bytes && file.flush() ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "write_plugin: %s\n", error.what());
  return 1;
}
