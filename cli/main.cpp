// The program's entry point. Only here an exception ends the program, and its kind becomes the exit code.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>

#include "api/boundary.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/app.h"
#include "cli/signals.h"
#include "cli/standard_streams.h"
#include "measure/core/format.h"
#include "measure/worker/served_process.h"
#include "tune/workload_problem.h"

namespace {

// A reserve of memory that is freed when memory runs out, since unwinding and the destructors of large
// documents allocate. Nothing writes to it, so the system has not provided its pages yet.
void* reserve = nullptr;

void give_up_reserve() {
  std::free(std::exchange(reserve, nullptr));
  throw std::bad_alloc();
}

void keep_reserve() {
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  reserve = std::malloc(kBytes);
  std::set_new_handler(&give_up_reserve);
}

// Returns a hint if the current directory does not exist any more. Relative paths then lead nowhere, and the
// system's "No such file or directory" does not say why.
const char* lost_directory() {
  std::error_code error;
  std::ignore = std::filesystem::current_path(error);
  return error == std::errc::no_such_file_or_directory
             ? "; the directory that this was started in is gone: change to one that exists"
             : "";
}

// Reports an error without throwing, since stderr itself may be what cannot be written.
int fail(int code, const std::string& text) {
  const std::string line = lehr::toned("lehr: " + lehr::printable_lines(text) + lost_directory()) + "\n";
  std::fputs(line.c_str(), stderr);
  return code;
}

// Ends the program. If printed text cannot be written, that is an error. But if nobody reads stdout, as with
// `lehr best | head -1`, the program ends by SIGPIPE without a message, as other programs do. By then every
// file is closed, and the log is complete.
int finish(int code, const std::string& sentence = "") {
  const std::string unwritten = lehr::why_unwritten();
  if (!unwritten.empty() && lehr::nobody_reads()) lehr::end_by_broken_pipe();
  if (!unwritten.empty()) return fail(2, unwritten);
  return sentence.empty() ? code : fail(code, sentence);
}

}  // namespace

int main(int argc, char** argv) {
  lehr::keep_standard_streams();
  keep_reserve();
  try {
    if (const std::optional<int> code = lehr::served_process(argc, argv, lehr::workload_kinds()))
      return *code;
    lehr::take_failed_writes_as_errors();
    return finish(lehr::CommandLine().run(argc, argv));
  } catch (const lehr::Error& error) {
    return finish(static_cast<int>(lehr::api::code_of(error.kind())), error.what());
  } catch (const lehr::api::Error& error) {
    return finish(static_cast<int>(error.code()), error.as_command());
  } catch (const std::bad_alloc&) {
    return fail(2, "there is not enough memory");
  } catch (const std::exception& error) {
    return finish(2, lehr::api::sentence_of(error));
  }
}
