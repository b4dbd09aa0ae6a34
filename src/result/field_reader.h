// Reads structs by their field lists (streamsim/fields.h) from JSON, strictly.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "result/json_values.h"
#include "streamsim/fields.h"

namespace streamsim::result {

/// Reads structs by their field lists: the members of one object of the document.
class FieldReader {
public:
    explicit FieldReader(const JsonNode& node) : node_(node) {
        if (!node.json.is_object())
            node.problems.add(node.pointer, std::string("expected an object, found ") + node.json.type_name());
    }

    template <class Value>
    void operator()(const char* key, Value&& value, Presence presence = kAlways) {
        if (const Json* found = member(key, presence)) read(node_at(key, *found), value);
    }
    template <class Value>
    void derived(const char*, const Value&, Presence = kAlways) {}
    template <class List>
    void object(const char* key, const List& list, Presence presence = kAlways) {
        const Json* const found = member(key, presence);
        if (found == nullptr) return;
        const JsonNode node = node_at(key, *found);
        FieldReader members(node);
        list(members);
    }
    template <class Row, class List>
    void rows(const char* key, std::vector<Row>& rows, const List& list) {
        const Json* const found = member(key, kAlways);
        if (found == nullptr) return;
        const JsonNode node = node_at(key, *found);
        if (!found->is_array()) return node.expected("an array");
        for (std::size_t i = 0; i < found->size() && !node.problems.enough(); ++i) {
            const JsonNode row = element(node, i);
            FieldReader members(row);
            list(rows.emplace_back(), members);
        }
    }
    template <class Row>
    void columns(std::vector<Row>& rows) {
        std::vector<JsonNode> columns;
        bool good = true;
        for (const char* const key : column_keys<Row>()) {
            const Json* const found = member(key, kAlways);
            if (found != nullptr && !found->is_array()) node_at(key, *found).expected("an array");
            good &= found != nullptr && found->is_array();
            if (good) columns.push_back(node_at(key, *found));
        }
        if (!good) return;
        for (const JsonNode& column : columns) good &= column.json.size() == columns.front().json.size();
        if (!good) return node_.problems.add(node_.pointer, "expected columns of the same length");
        rows.resize(columns.front().json.size());
        for (std::size_t i = 0; i < rows.size() && !node_.problems.enough(); ++i) {
            std::size_t next = 0;
            auto cell = [&](const char*, auto& value) { read(element(columns[next++], i), value); };
            fields(rows[i], cell);
        }
    }

private:
    const Json* member(const char* key, Presence presence) const {
        if (!node_.json.is_object()) return nullptr;
        const auto found = node_.json.find(key);
        if (found != node_.json.end()) return &*found;
        if (presence.required) node_.problems.add(node_.pointer + "/" + key, "missing, but required");
        return nullptr;
    }
    JsonNode node_at(const char* key, const Json& value) const {
        return {value, node_.pointer + "/" + key, node_.problems};
    }
    static JsonNode element(const JsonNode& array, std::size_t i) {
        return {array.json[i], array.pointer + "/" + std::to_string(i), array.problems};
    }

    template <class Value>
    static void read(const JsonNode& node, std::optional<Value>& value) {
        if (node.json.is_null()) return value.reset();
        read(node, value.emplace());
    }
    template <class Value>
    static void read(const JsonNode& node, std::vector<Value>& values) {
        if (!node.json.is_array()) return node.expected("an array");
        values.reserve(node.json.size());
        for (std::size_t i = 0; i < node.json.size() && !node.problems.enough(); ++i)
            read(element(node, i), values.emplace_back());
    }
    template <class Number>
    static void read(const JsonNode& node, Whole<Number> number) {
        read(node, number.value);
    }
    template <class Numbers>
    static void read(const JsonNode& node, FourDecimals<Numbers> numbers) {
        read(node, numbers.value);
    }
    static void read(const JsonNode& node, ErrorName<int> error) { read_error_name(node, error.code); }
    static void read(const JsonNode& node, Worded<bool> flag) {
        const std::size_t found = read_word(node, {flag.when_false, flag.when_true});
        if (found < 2) flag.value = found == 1;
    }
    template <class Word>
    static void read(const JsonNode& node, Among<Word> word) {
        std::vector<const char*> names;
        for (const Word each : word.allowed) names.push_back(to_string(each));
        if (const std::size_t found = read_word(node, names); found < names.size())
            word.value = word.allowed[found];
    }
    template <class Value>
    static void read(const JsonNode& node, Value& value) {
        if constexpr (std::is_enum_v<Value>) {
            read(node, Among<Value>{value, all_words<Value>()});
        } else if constexpr (requires { read_value(node, value); }) {
            read_value(node, value);
        } else {
            if constexpr (requires { value.empty(); }) {
                if (node.json.is_null()) return;
            }
            FieldReader members(node);
            fields(value, members);
        }
    }

    const JsonNode& node_;
};

}  // namespace streamsim::result
