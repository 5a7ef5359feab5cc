#include "tests/reached/unreached.h"

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <sstream>

namespace lehr::test {
namespace {

/// "" for what is no name of C++. A constructor has several symbols and one name.
std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? std::string(name.get()) : "";
}

/// The function whose section this is: ".text._ZN4lehr...", or one of the folders that GCC sorts functions
/// into.
std::string function_of_section(std::string_view section) {
  constexpr std::string_view kText = ".text.";
  if (!section.starts_with(kText)) return "";
  section.remove_prefix(kText.size());
  for (const std::string_view folder : {"unlikely.", "startup.", "exit.", "hot."})
    if (section.starts_with(folder)) section.remove_prefix(folder.size());
  return demangled(std::string(section));
}

/// A map lists what was thrown away first, and then the memory with what is in it.
void add_kept(const std::string& map, std::set<std::string>& kept) {
  std::istringstream lines(map);
  bool in_memory = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("Linker script and memory map")) in_memory = true;
    if (!in_memory || !line.starts_with(" .text.")) continue;
    const std::string name = function_of_section(line.substr(1, line.find(' ', 1) - 1));
    if (!name.empty()) kept.insert(name);
  }
}

/// Where the list of parameters begins: its bracket is the last that opens outside of all others.
std::size_t parameters_of(std::string_view function) {
  int depth = 0;
  for (std::size_t at = function.rfind(')'); at < function.size(); --at) {
    if (function[at] == ')') ++depth;
    if (function[at] == '(' && --depth == 0) return at;
  }
  return function.size();
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

}  // namespace

std::set<std::string> unreached(const Linked& linked) {
  std::set<std::string> kept, found;
  for (const std::string& map : linked.maps) add_kept(map, kept);
  std::istringstream lines(linked.symbols);
  for (std::string line; std::getline(lines, line);) {
    // "0000000000000000 T _ZN4lehr...": code that other files see.
    const std::size_t kind = line.find(" T ");
    if (kind == std::string::npos) continue;
    const std::string name = demangled(line.substr(kind + 3));
    if (name.starts_with("lehr::") && !kept.contains(name)) found.insert(name);
  }
  return found;
}

bool is_named_in(const std::vector<std::string>& texts, std::string_view function) {
  std::string_view name = function.substr(0, parameters_of(function));
  name = name.substr(name.rfind("::") + 2);
  return std::ranges::any_of(texts, [name](const std::string& text) {
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
      const std::size_t end = at + name.size();
      if ((at == 0 || !is_word(text[at - 1])) && end < text.size() && text[end] == '(') return true;
    }
    return false;
  });
}

}  // namespace lehr::test
