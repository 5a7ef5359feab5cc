// What a stranger may send, each form through its parser: whatever the bytes, the parser answers or throws
// Error, and what it accepts is written back and accepted again. A broken promise ends the process.
#pragma once

#include <span>
#include <string_view>

namespace lehr::test {

void fuzz_config(std::string_view bytes);     ///< the text of a config
void fuzz_workload(std::string_view bytes);   ///< the text of a workload
void fuzz_flags(std::string_view bytes);      ///< the values of flags
void fuzz_row(std::string_view bytes);        ///< a database row of any values, its checksum made right
void fuzz_line(std::string_view bytes);       ///< a line of JSON for lehr db import
void fuzz_page_file(std::string_view bytes);  ///< a whole database file, torn or not
void fuzz_table(std::string_view bytes);      ///< a recorded table
void fuzz_onnx(std::string_view bytes);       ///< a network, with all that is read out of it
void fuzz_manifest(std::string_view bytes);   ///< a bundle's manifest, its hash made right
void fuzz_plan(std::string_view bytes);       ///< the plan of a fused node, with the shapes of its nodes
void fuzz_problems(std::string_view bytes);   ///< a file of problems, in all notations
void fuzz_lowering(std::string_view bytes);   ///< a workload's line and a config, as a stranger's row has them

struct FuzzTarget {
  std::string_view name;  ///< also that of its folder in seeds/
  void (*run)(std::string_view bytes);
};
std::span<const FuzzTarget> fuzz_targets();

}  // namespace lehr::test
