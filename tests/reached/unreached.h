// Functions that no program keeps, by what nm tells of objects and the linker's maps tell of programs.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lehr::test {

/// What a program is made of and what its link kept of it.
struct Linked {
  /// `nm`'s lines of objects and archives, in which each function has a section of its own.
  std::string symbols;
  /// Texts of the linker's maps (GNU ld, -Map).
  std::vector<std::string> maps;
};

/// Functions of namespace lehr as C++ writes them, "lehr::Space::sample(lehr::Rng&) const", which are visible
/// to other files, and of which no map keeps a section; with the name of the source that has them,
/// "space.cpp". What is declared inline, a template's or of one file alone is not among them: the compiler
/// makes none of those that it does not need. Nor are constructors, destructors and operators, which are
/// called without their name.
std::map<std::string, std::string> unreached(const Linked& linked);

/// How often `text` has the function's name and a bracket, as a declaration, a definition and a call have.
int mentions(std::string_view text, std::string_view function);

}  // namespace lehr::test
