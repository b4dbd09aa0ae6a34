// Builds the text of a JSON document piece by piece: long tables need no second copy of themselves as a tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/document/text_sink.h"

namespace streamsim {

/// The caller closes what it opens, and gives each member of an object its key.
class JsonText {
public:
    JsonText() = default;
    /// Gives what it has to `sink` whenever that is 64 KiB or more; take() has the rest.
    explicit JsonText(TextSink sink) : sink_(std::move(sink)) {}

    /// Whether the entries of an object or an array take a line each.
    enum class Layout { lines, compact };

    void begin_object(Layout layout) { begin('{', '}', layout); }
    void begin_array(Layout layout) { begin('[', ']', layout); }
    /// Closes the innermost object or array.
    void end();
    void key(std::string_view key);

    void null() { put("null"); }
    void boolean(bool value) { put(value ? "true" : "false"); }
    void number(std::uint64_t value) { put(std::to_string(value)); }
    void number(std::int64_t value) { put(std::to_string(value)); }
    /// As short as it can be read back exactly; null when it is not finite.
    void number(double value);
    /// Bytes that are not UTF-8 are shown as U+FFFD.
    void text(std::string_view value);
    /// A value that is JSON text already.
    void put(std::string_view json);

    std::size_t depth() const { return open_.size(); }
    std::string take() && { return std::move(text_); }

private:
    struct Level {
        char close;
        Layout layout;
        bool empty = true;
    };

    void begin(char open, char close, Layout layout);
    void new_line(std::size_t depth);
    /// Separates an entry from the one before it.
    void next_entry();

    TextSink sink_;
    std::string text_;
    std::vector<Level> open_;
    bool after_key_ = false;
};

}  // namespace streamsim
