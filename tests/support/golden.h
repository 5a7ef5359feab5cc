// Golden texts: emitted sources are compared with files under tests/golden/. `--update-golden` rewrites them.
#pragma once

#include <string>

namespace lehr::testing {

/// Switches --update-golden on. The test program's main() calls it.
void set_update_golden(bool update);

/// Fails the current test, showing the first line that differs, unless `text` equals tests/golden/<name>.
void expect_golden(const std::string& name, const std::string& text);
/// Does the same with another file of the repository whose content is generated from the code:
/// "docs/json.md".
void expect_generated(const std::string& path, const std::string& text);

}  // namespace lehr::testing
