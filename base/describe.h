// Lists a struct's members once. Its columns, messages and documents are all made from that list.
#pragma once

#include <concepts>
#include <type_traits>

namespace lehr {

/// True if T is S or const S, so that one function describes both a value that is read and a value that is
/// filled.
template <typename T, typename S>
concept Is = std::same_as<std::remove_const_t<T>, S>;

/// A described struct has a function beside it that hands every member with its name to a visitor:
///
///     void describe(auto& field, Is<Resources> auto& resources) {
///       field("registers", resources.registers);
///       field("compile_s", resources.compile_s);
///       field("windows", resources.windows, kNotAColumn);
///     }
///
/// The name is that of the member in a JSON object (base/describe_json.h) and of the column in a table
/// (database/record_codec.h), in the same order. A member with kNotAColumn is in messages and documents, but
/// not in tables.
inline constexpr bool kNotAColumn = false;

/// Documents that are only written, such as those of --json, are described in the same way. Their function
/// takes a const struct and may add computed values. A field may have a description as its third argument, or
/// "" if its name says enough.
///
/// A number or text that a document writes as null if it is not known (0 or "").
template <typename T>
struct Known {
  T value;
};
template <typename T>
Known(T) -> Known<T>;

/// An object within a document whose fields a function describes.
template <typename F>
struct Fields {
  F each;
};
template <typename F>
Fields(F) -> Fields<F>;
template <typename F>
void describe(auto& field, const Fields<F>& fields) {
  fields.each(field);
}

/// A visitor that does nothing.
struct AnyField {
  template <typename... Args>
  void operator()(Args&&...) const {}
};
template <typename T>
concept Described = requires(const AnyField& field, T& object) { describe(field, object); };

}  // namespace lehr
