// Field lists: beside each struct of a result stands fields(STRUCT, visit), which names the members of the
// struct as documents have them, in the order of the document. The JSON writer, the strict reader and the test
// that holds the schemas to the lists are visitors of the same lists; a new member is named once. Lists know no
// JSON.
//
//     visit("name", host.name);                            every document has it
//     visit("next", verdict.next, kAdded);                 documents from before it was added lack it
//     visit("seats", result.seats, only_if(condition));    written where the condition holds
//     visit.object("target", [&](auto& target) { ... });   members that the document groups
//     visit.columns(series.points);                        a table: an array for each field of its rows
//     visit.derived("per_s", rate);                        computed from other members; written and never read
//     visit.rows("steps", steps, list);                    a table; list(step, visit) names a row
//
// A struct that has empty() is null in the document while it is empty. A name ends with the unit.
#pragma once

#include <concepts>
#include <initializer_list>
#include <string_view>
#include <type_traits>
#include <vector>

namespace streamsim {

/// The struct of a field list: the writer visits a const one, the reader fills in another.
template <class T, class Struct>
concept ConstOr = std::same_as<std::remove_const_t<T>, Struct>;

/// Tells which documents have a member.
struct Presence {
    bool required = true;  // a document without it is no result
    bool always = true;    // every document that is written today has it
    bool written = true;   // this document has it
};
constexpr Presence kAlways{};
constexpr Presence kAdded{.required = false};
constexpr Presence only_if(bool condition) {
    return {.required = false, .always = false, .written = condition};
}

/// A number that documents round to an integer.
template <class Number>
struct Whole {
    Number& value;
};
template <class Number>
Whole<Number> whole(Number& value) {
    return {value};
}

/// Numbers that documents round to four decimal places: shares of time are not known better.
template <class Numbers>
struct FourDecimals {
    Numbers& value;
};
template <class Numbers>
FourDecimals<Numbers> four_decimals(Numbers& value) {
    return {value};
}

/// An enumerator of which documents have only some.
template <class Word>
struct Among {
    Word& value;
    std::vector<std::remove_const_t<Word>> allowed;
};
template <class Word>
Among<Word> among(Word& value, std::initializer_list<std::remove_const_t<Word>> allowed) {
    return {value, allowed};
}

/// A flag that documents spell as one of two words.
template <class Flag>
struct Worded {
    Flag& value;
    const char* when_false;
    const char* when_true;
};
template <class Flag>
Worded<Flag> worded(Flag& value, const char* when_false, const char* when_true) {
    return {value, when_false, when_true};
}

/// An errno that documents name ("EIO"); a number where it has no name.
template <class Code>
struct ErrorName {
    Code& code;
};
template <class Code>
ErrorName<Code> error_name(Code& code) {
    return {code};
}

/// All enumerators. REQUIRES: they count from 0 without a gap, and to_string of any other value is "?".
template <class Word>
std::vector<Word> all_words() {
    std::vector<Word> words;
    for (int i = 0; std::string_view(to_string(static_cast<Word>(i))) != "?"; ++i)
        words.push_back(static_cast<Word>(i));
    return words;
}

/// The keys of a table in columns.
template <class Row>
std::vector<const char*> column_keys() {
    std::vector<const char*> keys;
    Row row;
    auto collect = [&keys](const char* key, const auto&) { keys.push_back(key); };
    fields(row, collect);
    return keys;
}

}  // namespace streamsim
