// Inputs that a stranger may send, each form through its parser. Whatever the bytes, the parser answers or
// throws Error, and what it accepts is written back and accepted again. A broken promise ends the process.
#pragma once

#include <span>
#include <string_view>

namespace lehr::test {

/// Parses the text of a config.
void fuzz_config(std::string_view bytes);
/// Parses the text of a workload.
void fuzz_workload(std::string_view bytes);
/// Parses the values of flags.
void fuzz_flags(std::string_view bytes);
/// Decodes a database row of any values, its checksum made right.
void fuzz_row(std::string_view bytes);
/// Opens a whole database file, torn or not.
void fuzz_page_file(std::string_view bytes);
/// Reads a recorded table.
void fuzz_table(std::string_view bytes);
/// Reads a network, with all that is read out of it.
void fuzz_onnx(std::string_view bytes);
/// Asks a library for a workload.
void fuzz_find(std::string_view bytes);
/// Reads a file of problems, in all notations.
void fuzz_problems(std::string_view bytes);
/// Lowers a workload's line and a config, as a stranger's row has them.
void fuzz_lowering(std::string_view bytes);

struct FuzzTarget {
  std::string_view name;  ///< also the name of its folder in seeds/
  void (*run)(std::string_view bytes);
};
std::span<const FuzzTarget> fuzz_targets();

}  // namespace lehr::test
