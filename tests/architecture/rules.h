// The rules of the project's structure, as data and as functions from source files to findings.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tests/architecture/source_tree.h"

namespace lehr::test {

/// One row of the folder table in ARCHITECTURE.md.
struct FolderRule {
  std::string folder;
  std::vector<std::string>
      allowed;  ///< folders ("base"), or single headers ("record/outcome.h"); its own is implied
};
std::span<const FolderRule> folder_rules();
/// Returns the row's last cell there: "ir, base", "nothing", or "everything".
std::string describe(const FolderRule& rule);
/// Returns the product's folders in the order of the data flow, then tests and bench.
std::vector<std::string> all_folders();

/// Returns the rooms of measure/, in the order of the table in its README, with the rooms that each may
/// include.
std::span<const FolderRule> measure_rooms();

/// Each check returns one sentence per violation: file, line, and what would be right.
std::vector<std::string> check_edges(const std::vector<SourceFile>& files);
/// Checks the same between the rooms of measure/. No vendor library's folder includes another's.
std::vector<std::string> check_rooms(const std::vector<SourceFile>& files);
/// Checks that exactly one file of the product's folders includes `header` (as written in angle brackets or
/// quotes).
std::vector<std::string> check_single_user(const std::vector<SourceFile>& files, const std::string& header);
/// Checks that no file includes any of `headers`.
std::vector<std::string> check_absent(const std::vector<SourceFile>& files,
                                      const std::vector<std::string>& headers);
/// Checks that a header of the product begins with a comment that says what it is for, and has #pragma once.
std::vector<std::string> check_header_form(const std::vector<SourceFile>& files);
/// Checks that no two headers of the product define one type: the linker would keep the inline functions of
/// either (C++20 [basic.def.odr]). It sees types at the beginning of a line, in a namespace opened at the
/// beginning of a line.
std::vector<std::string> check_type_names(const std::vector<SourceFile>& files);
/// Checks that the product asks what a target has and does not name one (`Target::kCuda`, "cuda"). Exempt are
/// base/target.h, a target's rooms (folders cpu/ and cuda/, measure/host/) and the rows of vendor libraries.
std::vector<std::string> check_target_names(const std::vector<SourceFile>& files);
/// Checks that nobody asks which operator a workload has but the operator's rooms: `workload/`, its families
/// and what they see of it, vendor libraries, and what finds it in networks.
std::vector<std::string> check_operator_names(const std::vector<SourceFile>& files);
/// Checks that comments begin with a verb or their subject, not with "Of", and say "no x" instead of denying
/// by "none".
std::vector<std::string> check_comments(const std::vector<SourceFile>& files);
/// Returns the headers that the preset ci precompiles for the product (cmake/lehr.cmake), separated by
/// blanks.
std::string precompiled_headers();
/// Checks that a file which uses a name of one of these headers includes it, or one of our headers that does:
/// behind precompiled headers no compiler finds that it is missing. `runtime/` and `plugin/` are exempt,
/// since they are compiled without.
std::vector<std::string> check_precompiled(const std::vector<SourceFile>& files);
/// Counts the lines of code of each folder ("base") and of its tests ("tests/base"), without blanks and lines
/// that are comments.
std::map<std::string, std::size_t> lines_of_code(const std::vector<SourceFile>& files);
/// Reads the budget in ARCHITECTURE.md: rows "| `base/` | 1500 | 700 |" with the most lines of code of a
/// folder and of its tests, by the names of lines_of_code(). A "-" means no such code.
std::map<std::string, std::size_t> budget_of(const std::string& architecture);
/// Checks that the library prints nothing and leaves alone what belongs to the caller's whole process:
/// environment, signals, working directory, locale. Exempt are `cli/`, code that runs in products
/// (`runtime/`, `plugin/`), and code that runs in processes of our own.
std::vector<std::string> check_manners(const std::vector<SourceFile>& files);

}  // namespace lehr::test
