// The table of all interned texts.
#include "base/interned_text.h"

#include <mutex>
#include <set>

namespace lehr {

const std::string* InternedText::kept(std::string_view text) {
  struct Table {
    std::mutex mutex;
    std::set<std::string, std::less<>> texts;  // whose elements stay where they are
  };
  static Table* const table = new Table;  // for ever: configs refer to it
  const std::lock_guard lock(table->mutex);
  const auto found = table->texts.find(text);
  return &*(found != table->texts.end() ? found : table->texts.emplace(text).first);
}

}  // namespace lehr
