// Functions that no program keeps, by nm's symbols of objects and by the linker's maps of programs.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lehr::test {

/// The objects of a program, and the parts that its link kept.
struct Linked {
  /// `nm`'s lines of objects and archives, in which each function has a section of its own.
  std::string symbols;
  /// Texts of the linker's maps (GNU ld, -Map).
  std::vector<std::string> maps;
};

/// Returns the functions of namespace lehr of which no map keeps a section, as C++ writes them,
/// "lehr::Space::sample(lehr::Rng&) const"; with the name of their source, "space.cpp". They are visible to
/// other files. Inline functions, templates and functions of one file alone are not among them: the compiler
/// makes only those that it needs. Nor are constructors, destructors and operators, which are called without
/// their name.
std::map<std::string, std::string> unreached(const Linked& linked);

/// Returns how often `text` has the function's name and a bracket, as a declaration, a definition and a call
/// have.
int mentions(std::string_view text, std::string_view function);

}  // namespace lehr::test
