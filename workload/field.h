// One key=value of a workload's text, described once: its text, parser, flag, help and distance are all
// derived from it.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace lehr {

struct Workload;

/// Which kind of list a flag accepts.
enum class Sweep {
  kNone,
  kSizes,  ///< "64,128", "1024:4096:1024", "4096+1024" (cli/args.h)
  kValues  ///< "1,2x1": values of the field's own text
};

/// A row of an operator's table (operator.h), written by field() and similar functions (field_of.h). The
/// table's order is that of the text, of help, and of the loops over lists, the first one outermost: lists of
/// sizes, then lists of values.
struct Field {
  std::string_view key;
  std::string_view help = {};  ///< help of the flag --key; "" if there is no such flag
  /// Value of the flag if it is not given; "" if the operator's complete() sets the value.
  std::string_view usual = {};
  Sweep sweep = Sweep::kNone;
  bool required = false;  ///< a flag that must be given
  /// Whether the field was added after texts had been stored. In a text it comes after all other fields, and
  /// it is omitted if it has its `usual` value.
  bool later = false;
  bool is_last_word = false;  ///< the command line gives its value without a flag
  bool names_flag = false;    ///< sentences about a bad value of the flag begin with the flag
  bool unquoted = false;      ///< "m=x is not a whole number"; else "'m=x' is ..."
  bool drops_layout = false;  ///< a type may be written like an operand, "f32:row"
  /// Choices of the flag; empty: read() reports what is wrong.
  std::span<const std::string_view> choices = {};
  /// Appends the value's text. This function and the next two are nullptr in a row that is only a flag, whose
  /// value complete() reads.
  void (*append)(const Workload& workload, std::string& text) = nullptr;
  /// Sets the value. `name` is the key or the flag, for error messages. Throws Error(kUser), one sentence.
  void (*read)(const Field& field, std::string_view name, std::string_view value,
               Workload& workload) = nullptr;
  /// Returns the distance of two workloads in this field: powers of two between sizes; kOtherKind for
  /// different types, layouts or math; kOtherEpilogue for different epilogues or scales, or if only one of
  /// two operands is constant.
  double (*distance)(const Workload& a, const Workload& b) = nullptr;

  constexpr bool in_text() const { return read != nullptr; }
  constexpr bool is_flag() const { return !help.empty(); }
  /// Returns whether the field was added later and has an unusual value in this workload. Only such later
  /// fields appear in a text.
  bool is_new_in(const Workload& workload) const {
    if (!later) return false;
    std::string value;
    append(workload, value);
    return value != usual;
  }

 private:
  // Must be defined before it is used: clang does not evaluate a constant with a template that is defined
  // later.
  template <typename T>
  constexpr Field with(T Field::* member, T value) const {
    Field changed = *this;
    changed.*member = value;
    return changed;
  }

 public:
  constexpr Field sizes() const { return with(&Field::sweep, Sweep::kSizes); }
  constexpr Field list() const { return with(&Field::sweep, Sweep::kValues); }
  constexpr Field at_end() const { return with(&Field::is_last_word, true); }
  constexpr Field needed() const { return with(&Field::required, true); }
  constexpr Field added_later() const { return with(&Field::later, true); }
  constexpr Field naming_flag() const { return with(&Field::names_flag, true); }
  constexpr Field without_quotes() const { return with(&Field::unquoted, true); }
  constexpr Field or_operand() const { return with(&Field::drops_layout, true); }
  constexpr Field usually(std::string_view text) const { return with(&Field::usual, text); }
  constexpr Field one_of(std::span<const std::string_view> known) const {
    return with(&Field::choices, known);
  }
};

inline constexpr double kOtherKind = 4;
inline constexpr double kOtherEpilogue = 0.5;  ///< stands for an additional pass over the output

}  // namespace lehr
