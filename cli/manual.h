// Writes the manual page.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace lehr {

/// Returns lehr(1) in the language of man(7), with every command and flag below `root`.
std::string manual_page(const CLI::App& root);

}  // namespace lehr
