// write_plugin FOLDER: writes what `lehr apply` writes there, for the plug-in's test with ONNX Runtime.
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
