#include "base/document/json_text.h"

#include "base/document/json.h"

namespace streamsim {
namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kPieceBytes = 64 * 1024;

}  // namespace

void JsonText::number(double value) {
    put(json_text(Json(value)));
}

void JsonText::text(std::string_view value) {
    put(json_text(Json(value)));
}

void JsonText::put(std::string_view json) {
    next_entry();
    text_ += json;
}

void JsonText::key(std::string_view key) {
    next_entry();
    text_ += '"';
    text_ += key;
    text_ += open_.back().layout == Layout::lines ? "\": " : "\":";
    after_key_ = true;
}

void JsonText::begin(char open, char close, Layout layout) {
    next_entry();
    text_ += open;
    open_.push_back({close, layout});
}

void JsonText::end() {
    const Level level = open_.back();
    open_.pop_back();
    if (level.layout == Layout::lines && !level.empty) new_line(open_.size());
    text_ += level.close;
}

void JsonText::next_entry() {
    if (sink_ && text_.size() >= kPieceBytes) {
        sink_(text_);
        text_.clear();
    }
    if (after_key_ || open_.empty()) {
        after_key_ = false;
        return;
    }
    if (!open_.back().empty) text_ += ',';
    open_.back().empty = false;
    if (open_.back().layout == Layout::lines) new_line(open_.size());
}

void JsonText::new_line(std::size_t depth) {
    text_ += '\n';
    text_.append(depth * kIndent, ' ');
}

}  // namespace streamsim
