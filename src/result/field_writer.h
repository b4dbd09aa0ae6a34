// Writes structs by their field lists (streamsim/fields.h) as JSON.
#pragma once

#include <cmath>
#include <concepts>
#include <optional>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/document/json_text.h"
#include "base/system/errno_name.h"
#include "base/time.h"
#include "streamsim/fields.h"

namespace streamsim::result {

/// Members of the object that is open in a JsonText.
class FieldWriter {
public:
    /// Parts of a document that take a line each: every entry; members of the outermost object and rows of the
    /// tables in it; or these members alone.
    enum class Lines { all, tables, members };

    FieldWriter(JsonText& text, Lines lines) : text_(text), lines_(lines) {}

    template <class Value>
    void operator()(const char* key, const Value& value, Presence presence = kAlways) {
        if (!presence.written) return;
        text_.key(key);
        write(value);
    }
    template <class Value>
    void derived(const char* key, const Value& value, Presence presence = kAlways) {
        (*this)(key, value, presence);
    }
    template <class List>
    void object(const char* key, const List& list, Presence presence = kAlways) {
        if (!presence.written) return;
        text_.key(key);
        members(list);
    }
    template <class Row, class List>
    void rows(const char* key, const std::vector<Row>& rows, const List& list) {
        text_.key(key);
        begin_array(true);
        for (const Row& row : rows) members([&list, &row](FieldWriter& writer) { list(row, writer); });
        text_.end();
    }
    template <class Row>
    void columns(const std::vector<Row>& rows) {
        const std::vector<const char*> keys = column_keys<Row>();
        for (std::size_t wanted = 0; wanted < keys.size(); ++wanted) {
            text_.key(keys[wanted]);
            begin_array(false);
            for (const Row& row : rows) {
                std::size_t column = 0;
                auto cell = [&](const char*, const auto& value) {
                    if (column++ == wanted) write(value);
                };
                fields(row, cell);
            }
            text_.end();
        }
    }

private:
    JsonText::Layout inner() const {
        return lines_ == Lines::all ? JsonText::Layout::lines : JsonText::Layout::compact;
    }
    /// A table is an array of objects.
    void begin_array(bool table) {
        const bool lines = table && lines_ == Lines::tables && text_.depth() == 1;
        text_.begin_array(lines ? JsonText::Layout::lines : inner());
    }
    template <class List>
    void members(const List& list) {
        text_.begin_object(inner());
        list(*this);
        text_.end();
    }

    void write(bool value) { text_.boolean(value); }
    void write(double value) { text_.number(value); }
    void write(std::string_view value) { text_.text(value); }
    void write(const std::string& value) { text_.text(value); }
    void write(const char* value) { text_.text(value); }
    template <std::unsigned_integral Number>
    void write(Number value) {
        text_.number(std::uint64_t{value});
    }
    template <std::signed_integral Number>
    void write(Number value) {
        text_.number(std::int64_t{value});
    }
    template <class Value>
    void write(const std::optional<Value>& value) {
        if (value) return write(*value);
        text_.null();
    }
    void write(const FrameRate& rate) { write(std::vector{rate.num, rate.den}); }
    template <class Number>
    void write(Whole<Number> number) {
        if (!std::isfinite(number.value)) return text_.null();
        text_.number(std::int64_t{std::llround(number.value)});
    }
    void write(FourDecimals<const double> number) { text_.number(std::round(number.value * 1e4) / 1e4); }
    void write(FourDecimals<const std::optional<double>> number) {
        if (number.value) return write(four_decimals(*number.value));
        text_.null();
    }
    void write(FourDecimals<const std::vector<double>> numbers) {
        begin_array(false);
        for (const double& number : numbers.value) write(four_decimals(number));
        text_.end();
    }
    template <class Word>
    void write(const Among<Word>& word) {
        write(word.value);
    }
    template <class... Values>
    void write(const std::variant<Values...>& value) {
        std::visit([this](const auto& held) { this->write(held); }, value);
    }
    void write(Worded<const bool> flag) { text_.text(flag.value ? flag.when_true : flag.when_false); }
    void write(ErrorName<const int> error) {
        const char* const name = errno_name(error.code);
        if (name != nullptr) return text_.text(name);
        write(error.code);
    }
    template <class Value>
    void write(const std::vector<Value>& values) {
        begin_array(std::is_class_v<Value> && !std::same_as<Value, std::string>);
        for (const Value& value : values) write(value);
        text_.end();
    }
    template <class Word>
    requires std::is_enum_v<Word>
    void write(Word word) { text_.text(to_string(word)); }
    template <class Struct>
    requires std::is_class_v<Struct>
    void write(const Struct& value) {
        if constexpr (requires { value.empty(); }) {
            if (value.empty()) return text_.null();
        }
        members([&value](FieldWriter& writer) { fields(value, writer); });
    }

    JsonText& text_;
    Lines lines_;
};

}  // namespace streamsim::result
