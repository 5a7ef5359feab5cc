#include "codegen/source_hash.h"

#include <concepts>
#include <string_view>

#include "base/hash.h"
#include "codegen/source_fields.h"

namespace lehr {
namespace {

/// Writes each given member as a line.
class Writer {
 public:
  std::string text;

  template <typename T>
  void operator()(std::string_view name, const T& member, bool = true) {
    const std::size_t before = text.size();
    text += name;
    if (write(member))
      text += '\n';
    else
      text.resize(before);
  }

 private:
  // Each writes nothing and returns false if the member is 0, false or empty.
  bool write(std::integral auto value) {
    number('=', static_cast<std::int64_t>(value));
    return value != 0;
  }
  bool write(std::string_view value) {
    number('=', std::ssize(value));
    (text += ':') += value;
    return !value.empty();
  }
  bool write(const std::string& value) { return write(std::string_view(value)); }
  bool write(Target value) { return write(name_of(value)); }
  bool write(DType value) { return write(name_of(value)); }
  bool write(ir::Direction value) { return write(ir::name_of(value)); }
  template <typename T>
  bool write(const std::optional<T>& value) {
    return value && write(*value);
  }
  template <Described T>
  bool write(const T& value) {
    text += "{\n";
    describe(*this, value);
    text += '}';
    return true;
  }
  template <typename Elements>
    requires requires(const Elements& elements) { elements.begin(); }
  bool write(const Elements& elements) {
    number('=', std::ssize(elements));
    for (const auto& each : elements) {
      text += ' ';
      if constexpr (std::integral<std::remove_cvref_t<decltype(each)>>)
        text += std::to_string(each);
      else
        write(each);
    }
    return !elements.empty();
  }
  void number(char before, std::int64_t value) { (text += before) += std::to_string(value); }
};

}  // namespace

std::string canonical_text(const Source& source) {
  Writer writer;
  writer.text.reserve(source.text.size() + 1024);
  describe(writer, source);
  return std::move(writer.text);
}

std::uint64_t hash_of(const Source& source) {
  const std::uint64_t hash = stable_hash(canonical_text(source));
  return hash == 0 ? 1 : hash;
}

}  // namespace lehr
