#include "tests/reached/unreached.h"

#include <cxxabi.h>

#include <cctype>
#include <cstdlib>
#include <memory>
#include <set>
#include <sstream>

namespace lehr::test {
namespace {

/// Returns "" for a symbol that is no name of C++. A constructor has several symbols and one name.
std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? std::string(name.get()) : "";
}

/// Returns the function whose section this is: ".text._ZN4lehr...", or one of the folders that GCC sorts
/// functions into.
std::string function_of_section(std::string_view section) {
  constexpr std::string_view kText = ".text.";
  if (!section.starts_with(kText)) return "";
  section.remove_prefix(kText.size());
  for (const std::string_view folder : {"unlikely.", "startup.", "exit.", "hot."})
    if (section.starts_with(folder)) section.remove_prefix(folder.size());
  return demangled(std::string(section));
}

/// Adds the functions that a map keeps. It lists what was thrown away first, and then the memory with its
/// contents.
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

/// Returns where the list of parameters begins: its bracket is the last that opens outside of all others.
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

/// Returns the qualified name, "lehr::Space::sample", of "lehr::Space::sample[abi:cxx11](lehr::Rng&)".
std::string_view qualified_name(std::string_view function) {
  const std::string_view name = function.substr(0, parameters_of(function));
  return name.substr(0, name.find("[abi:"));
}

std::string_view last_of(std::string_view qualified) {
  return qualified.substr(qualified.rfind("::") + 2);
}

bool is_called_by_name(std::string_view function) {
  const std::string_view qualified = qualified_name(function), name = last_of(qualified);
  const std::string_view owner = qualified.substr(0, qualified.size() - name.size() - 2);
  return !name.starts_with('~') && !name.starts_with("operator") &&
         owner.substr(owner.rfind(':') + 1) != name;
}

/// Returns "space.cpp" for "liblehr_space.a(space.cpp.o)", "space/space.cpp.o" and the like.
std::string source_of(std::string_view object) {
  object = object.substr(object.find_last_of("/(") + 1);
  return std::string(object.substr(0, object.find(".o")));
}

}  // namespace

std::map<std::string, std::string> unreached(const Linked& linked) {
  std::set<std::string> kept;
  for (const std::string& map : linked.maps) add_kept(map, kept);
  std::map<std::string, std::string> found;
  std::istringstream lines(linked.symbols);
  std::string source;
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with(':')) source = source_of(line.substr(0, line.size() - 1));
    // "0000000000000000 T _ZN4lehr...": code that other files see.
    const std::size_t kind = line.find(" T ");
    if (kind == std::string::npos) continue;
    const std::string name = demangled(line.substr(kind + 3));
    if (name.starts_with("lehr::") && !kept.contains(name) && is_called_by_name(name)) found[name] = source;
  }
  return found;
}

int mentions(std::string_view text, std::string_view function) {
  const std::string_view name = last_of(qualified_name(function));
  int count = 0;
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !is_word(text[at - 1])) && end < text.size() && text[end] == '(') ++count;
  }
  return count;
}

}  // namespace lehr::test
