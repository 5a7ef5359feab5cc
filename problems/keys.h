// A notation as a table of keys, and the one reader of such tables.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workload/workload.h"

namespace lehr {

/// The values of a notation, by fields of a workload's text or by their parts:
/// - pad_h, pad_w, and the same of stride and dilation: vertical and horizontal
/// - dtype: of the inputs that have none of their own
/// - a_layout, ..., y_layout: of the operands that have none of their own
/// - a_trans, b_trans: whether A and B are stored the other way than C (1, true, T or 0, false, N)
using Fields = std::map<std::string, std::string, std::less<>>;

/// A key that defines the problem. Its value may be as in a workload's text, or as other tools write types
/// and layouts: i8, fe4m3, tf32; NHWC, t, n.
struct Key {
  std::string_view field;
  /// Its spellings in the notation, with blanks between them. "": a constant.
  std::string_view names;
  /// The value if the key is left out; "": there is no such value.
  std::string_view usual = {};
};

/// A key that sets nothing.
struct Limit {
  std::string_view names;
  /// The values that are served, with blanks between them. "": all, and the names are those of different
  /// keys, which say how the problem is run.
  std::string_view only = {};
  /// The effect of other values: the end of a sentence that begins with key and value.
  std::string_view why = {};
};

struct Notation {
  std::span<const Key> keys;
  std::span<const Limit> limits = {};
  /// Names what an argument without a key should be: "flag of MIOpenDriver". "": such arguments are ignored.
  std::string_view thing = {};
};

struct GivenValue {
  std::string name, value;
  /// Both as they were written, for sentences: "-n 2", "--beta=1".
  std::string shown;
};
using GivenValues = std::vector<GivenValue>;

/// Returns the values of the keys. If two have one field, the later one in the table counts. Throws
/// Error(kUser) with one sentence for a key that is given twice, a value that is several or not served, and
/// an argument that is not ignored.
Fields read_keys(const Notation& notation, const GivenValues& arguments);

/// Returns the workload with types, layouts and pairs put together; filters are square if s is missing.
/// Throws Error(kUser) with one sentence.
Workload workload_of(std::string_view op, Fields fields);

/// Returns the words "--name=value". The others, including "--name=", go to `others`.
GivenValues options_of(std::span<const std::string_view> words, std::vector<std::string_view>& others);

/// Removes a field; "" where it is missing.
std::string taken(Fields& fields, std::string_view name);

/// Returns a field's number; nullopt if it is missing. Throws Error(kUser) if it is not from `least` to 2^31
/// - 1: then no product of two numbers overflows.
std::optional<std::int64_t> size_in(const Fields& fields, std::string_view name, std::int64_t least = 0);

}  // namespace lehr
