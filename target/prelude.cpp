#include "target/prelude.h"

#include <fmt/core.h>

#include <string>
#include <utility>

#include "target/dialect.h"

namespace lehr {

std::string prelude(Target target, const SnippetSet& used) {
  const Dialect& dialect = dialect_of(target);
  SnippetSet all = used;
  // Two passes, because operations need their vector type and "vector" sorts last.
  for (const std::string& name : used) {
    for (std::string& needed : dialect.snippets_needed_by(name)) all.insert(std::move(needed));
    for (const char* operation :
         {"splat", "masked", "minmax", "reduce", "max_of", "min_of", "stream", "hold_"}) {
      if (name.starts_with(operation)) all.insert("vector" + name.substr(std::string_view(operation).size()));
    }
  }
  std::string text;
  for (const bool types : {true, false}) {
    for (const std::string& name : all) {
      if (name.starts_with("vector") != types) continue;
      text += dialect.snippet(name);
    }
  }
  return text;
}

std::string intrinsic_function(std::string_view intrinsic) {
  return fmt::format("lehr_{}", intrinsic);
}

}  // namespace lehr
