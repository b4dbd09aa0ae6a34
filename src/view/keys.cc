#include "view/keys.h"

#include <optional>

namespace streamsim::view {
namespace {

constexpr char kEscape = '\x1b';
/// Longer sequences are none of a keyboard.
constexpr std::size_t kLongest = 32;

struct Named {
    std::string_view text;
    Key key;
};

constexpr Named kKeys[] = {
    {"q", Key::quit},
    {"Q", Key::quit},
    {"+", Key::add},
    {"=", Key::add},
    {"-", Key::remove},
    {"k", Key::up},
    {"j", Key::down},
    {" ", Key::page_down},
    {"b", Key::page_up},
    {"g", Key::home},
    {"G", Key::end},
    {"w", Key::worst_first},
    {"\x0c", Key::redraw},
    {"\x1b[A", Key::up},
    {"\x1bOA", Key::up},
    {"\x1b[B", Key::down},
    {"\x1bOB", Key::down},
    {"\x1b[5~", Key::page_up},
    {"\x1b[6~", Key::page_down},
    {"\x1b[H", Key::home},
    {"\x1bOH", Key::home},
    {"\x1b[1~", Key::home},
    {"\x1b[7~", Key::home},
    {"\x1b[F", Key::end},
    {"\x1bOF", Key::end},
    {"\x1b[4~", Key::end},
    {"\x1b[8~", Key::end},
};

std::optional<Key> named(std::string_view text) {
    for (const Named& each : kKeys) {
        if (each.text == text) return each.key;
    }
    return std::nullopt;
}

/// Whether a sequence that begins with an escape ends with its last byte.
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
        if (byte == kEscape) pending_.clear();  // the one before was the escape key
        if (byte != kEscape && pending_.empty()) {
            if (const auto key = named({&byte, 1})) keys.push_back(*key);
            continue;
        }
        pending_ += byte;
        if (!complete(pending_) && pending_.size() < kLongest) continue;
        if (const auto key = named(pending_)) keys.push_back(*key);
        pending_.clear();
    }
    return keys;
}

}  // namespace streamsim::view
