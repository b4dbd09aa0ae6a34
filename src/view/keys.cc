#include "view/keys.h"

#include <algorithm>
#include <array>
#include <optional>

namespace streamsim::view {
namespace {

constexpr char kEscape = '\x1b';
constexpr std::size_t kSequenceBytesMax = 32;  // no key sends a longer sequence

struct Binding {
    Key key;
    std::array<std::string_view, 5> sequences;
};

constexpr Binding kBindings[] = {
    {Key::quit, {"q", "Q"}},
    {Key::add, {"+", "="}},
    {Key::remove, {"-"}},
    {Key::up, {"k", "\x1b[A", "\x1bOA"}},
    {Key::down, {"j", "\x1b[B", "\x1bOB"}},
    {Key::page_up, {"b", "\x1b[5~"}},
    {Key::page_down, {" ", "\x1b[6~"}},
    {Key::home, {"g", "\x1b[H", "\x1bOH", "\x1b[1~", "\x1b[7~"}},
    {Key::end, {"G", "\x1b[F", "\x1bOF", "\x1b[4~", "\x1b[8~"}},
    {Key::worst_first, {"w"}},
    {Key::redraw, {"\x0c"}},
    {Key::begin, {"\r", "\n"}},
};

/// REQUIRES: !text.empty().
std::optional<Key> named(std::string_view text) {
    for (const Binding& each : kBindings) {
        if (std::ranges::find(each.sequences, text) != each.sequences.end()) return each.key;
    }
    return std::nullopt;
}

/// True if a sequence that begins with an escape ends with its last byte.
bool complete(std::string_view sequence) {
    if (sequence.size() < 2) return false;
    const char kind = sequence[1];
    if (kind == 'O') return sequence.size() == 3;
    if (kind != '[') return true;
    const char last = sequence.back();
    return sequence.size() > 2 && last >= '@' && last <= '~';
}

}  // namespace

std::vector<Key> KeyParser::feed(std::string_view bytes) {
    std::vector<Key> keys;
    for (const char byte : bytes) {
        if (byte == kEscape) pending_.clear();  // the pending one was the escape key
        if (byte != kEscape && pending_.empty()) {
            if (const auto key = named({&byte, 1})) keys.push_back(*key);
            continue;
        }
        pending_ += byte;
        if (!complete(pending_) && pending_.size() < kSequenceBytesMax) continue;
        if (const auto key = named(pending_)) keys.push_back(*key);
        pending_.clear();
    }
    return keys;
}

}  // namespace streamsim::view
