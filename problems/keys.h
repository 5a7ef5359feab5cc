// Describes a notation as a table of keys, and reads problems by such tables.
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

/// A key that defines the problem. Its value may be written as in a workload's text. Types and layouts may
/// also be written as other tools write them: i8, fe4m3, tf32; NHWC, t, n.
struct Key {
  std::string_view field;
  /// Spellings of the key in the notation, separated by blanks. "": the notation has no such key, and the
  /// value is always `usual`.
  std::string_view names;
  /// The value if the key is missing; "": there is no default.
  std::string_view usual = {};
};

/// A key that sets no field, with its accepted values.
struct Limit {
  std::string_view names;
  /// The accepted values, separated by blanks. If "", all values are accepted. Then `names` has several
  /// different keys, which only affect how the problem is run.
  std::string_view only = {};
  /// The effect of other values, as the end of a sentence that begins with the key and the value.
  std::string_view why = {};
};

struct Notation {
  std::span<const Key> keys;
  std::span<const Limit> limits = {};
  /// The expected kind of argument, for errors about unknown keys: "flag of MIOpenDriver". "": unknown keys
  /// are ignored.
  std::string_view thing = {};
};

struct GivenValue {
  std::string name, value;
  /// Name and value as they were written, for errors: "-n 2", "--beta=1".
  std::string shown;
};
using GivenValues = std::vector<GivenValue>;

/// Returns the fields that the arguments set. If two keys of the table set the same field, the later one
/// counts. Throws Error(kUser) with one sentence if a key is given twice, if a value is a list or not
/// accepted, or if a key is unknown and not ignored.
Fields read_keys(const Notation& notation, const GivenValues& arguments);

/// Returns the workload for these fields. Combines the parts of types, layouts and pairs. Filters are square
/// if s is missing. Throws Error(kUser) with one sentence.
Workload workload_of(std::string_view op, Fields fields);

/// Returns the words of the form "--name=value". All other words, including "--name=", go to `others`.
GivenValues options_of(std::span<const std::string_view> words, std::vector<std::string_view>& others);

/// Removes a field and returns its value; "" if it is missing.
std::string taken(Fields& fields, std::string_view name);

/// Returns a field's number; nullopt if it is missing. Throws Error(kUser) if the number is not from `least`
/// to 2^31 - 1. Within these limits no product of two numbers overflows.
std::optional<std::int64_t> size_in(const Fields& fields, std::string_view name, std::int64_t least = 0);

}  // namespace lehr
