// Entry point: the only place where an exception ends the program, and where its kind becomes the exit code.
#include <cstdio>
#include <exception>
#include <string_view>

#include "base/error.h"
#include "cli/app.h"
#include "measure/vendor/onnxruntime/trial.h"

namespace {

int exit_code(lehr::ErrorKind kind) {
  switch (kind) {
    case lehr::ErrorKind::kUser:
      return 1;
    case lehr::ErrorKind::kEnvironment:
    case lehr::ErrorKind::kInternal:
      return 2;
    case lehr::ErrorKind::kNotFound:
      return 3;
  }
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc >= 2 && std::string_view(argv[1]) == "worker") return lehr::run_worker(argc, argv);
    if (argc == 4 && std::string_view(argv[1]) == "engine")
      return lehr::onnxruntime::trial_main(argv[2], argv[3]);
    return lehr::CommandLine().run(argc, argv);
  } catch (const lehr::Error& error) {
    fmt::print(stderr, "lehr: {}\n", error.what());
    return exit_code(error.kind());
  } catch (const std::exception& error) {
    fmt::print(stderr, "lehr: unexpected: {}\n", error.what());
    return 2;
  }
}
