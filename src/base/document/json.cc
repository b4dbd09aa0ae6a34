#include "base/document/json.h"

#include <fmt/format.h>

#include <utility>

#include "base/similar_names.h"
#include "base/units.h"

namespace streamsim {
namespace {

/// A longer pointer loses its middle in a message, and so does a value that is shown.
constexpr std::size_t kPointerBytesMax = 300;
constexpr std::size_t kValueBytesMax = 200;

std::string shown(const Json& value) {
    return shortened(json_text(value), kValueBytesMax);
}

/// Limit of nesting, because code that walks a value recurses as deep as the value.
constexpr std::size_t kDeepest = 1024;

/// Finds repeated keys, which the parsed value no longer shows, and too deep nesting, in a pass of its own: the
/// parser with a callback would scan a whole array again for each of its elements.
class Watch final : public Json::json_sax_t {
public:
    bool null() override { return enter(); }
    bool boolean(bool) override { return enter(); }
    bool number_integer(number_integer_t) override { return enter(); }
    bool number_unsigned(number_unsigned_t) override { return enter(); }
    bool number_float(number_float_t, const string_t&) override { return enter(); }
    bool string(string_t&) override { return enter(); }
    bool binary(binary_t&) override { return enter(); }
    bool start_object(std::size_t) override { return open(false); }
    bool start_array(std::size_t) override { return open(true); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool key(string_t& key) override {
        Level& level = open_.back();
        level.key = key;
        if (!level.keys.insert(key).second && ++twice_count <= kProblemsMax) twice.push_back(pointer());
        return true;
    }
    /// The parser that makes the value has the better message.
    bool parse_error(std::size_t, const std::string&, const Json::exception&) override { return false; }

    std::vector<std::string> twice;  // the first few, because a pointer may be as long as the document
    std::size_t twice_count = 0;
    std::string too_deep;  // the location; empty: nowhere too deep

private:
    struct Level {
        bool array;
        std::size_t next;
        std::string key;
        std::set<std::string> keys;
    };

    bool enter() {
        if (!open_.empty() && open_.back().array) open_.back().key = std::to_string(open_.back().next++);
        return true;
    }
    bool open(bool array) {
        enter();
        if (open_.size() == kDeepest) too_deep = pointer();
        open_.push_back({array, 0, {}, {}});
        return too_deep.empty();
    }
    bool close() {
        open_.pop_back();
        return true;
    }
    std::string pointer() const {
        Json::json_pointer out;
        for (const Level& level : open_) out /= level.key;
        return out.to_string();
    }

    std::vector<Level> open_;
};

/// The library's message without the name of the exception and without the line number:
/// "[json.exception.parse_error.101] parse error at line 1, column 9: syntax error while ...".
std::string reason_of(const Json::exception& exception) {
    std::string_view text = exception.what();
    if (const auto end = text.find("] "); text.starts_with("[json.exception.") && end != text.npos)
        text.remove_prefix(end + 2);
    if (const auto end = text.find(": "); text.starts_with("parse error at ") && end != text.npos)
        text.remove_prefix(end + 2);
    return std::string(text);
}

template <typename Value>
std::string text_of(const Value& value, int indent) {
    return value.dump(indent, ' ', false, Value::error_handler_t::replace);
}

}  // namespace

std::string json_text(const Json& value, int indent) {
    return text_of(value, indent);
}

std::string json_text(const OrderedJson& value, int indent) {
    return text_of(value, indent);
}

Result<Json> parse_json(std::string_view text, const std::string& source) {
    Watch watch;
    Json value;
    try {
        Json::sax_parse(text, &watch);
        if (watch.too_deep.empty()) value = Json::parse(text);
    } catch (const Json::exception& exception) {
        const auto* parse = dynamic_cast<const Json::parse_error*>(&exception);
        return bad_input(fmt::format("{}: byte {}: not JSON: {}", source, parse != nullptr ? parse->byte : 0,
                                     shortened(reason_of(exception), kValueBytesMax)));
    }
    if (!watch.too_deep.empty()) {
        JsonProblems problems(source);
        problems.add(watch.too_deep, fmt::format("nested deeper than {} levels", kDeepest));
        return problems.error();
    }
    if (!watch.twice.empty()) {
        JsonProblems problems(source);
        for (std::size_t i = 0; i < watch.twice_count; ++i)
            problems.add(i < watch.twice.size() ? watch.twice[i] : "", "this key is given twice");
        return problems.error();
    }
    return value;
}

void JsonProblems::add(const std::string& pointer, const std::string& problem) {
    if (problems_.size() >= kProblemsMax) return problems_.add("");  // only counted
    problems_.add(fmt::format("{}: {}: {}", source_,
                              pointer.empty() ? "/" : shortened(pointer, kPointerBytesMax), problem));
}

JsonObject::JsonObject(const Json& value, std::string pointer, JsonProblems& problems)
    : pointer_(std::move(pointer)), problems_(problems) {
    if (value.is_object()) {
        value_ = &value;
    } else {
        problems_.add(pointer_, fmt::format("expected an object, found {}", value.type_name()));
    }
}

bool JsonObject::has(const std::string& key) const {
    return value_ != nullptr && value_->contains(key);
}

std::string JsonObject::pointer_of(const std::string& key) const {
    return pointer_ + (Json::json_pointer() / key).to_string();
}

const Json* JsonObject::member(const std::string& key, bool required) {
    read_.insert(key);
    if (value_ == nullptr) return nullptr;
    const auto found = value_->find(key);
    if (found != value_->end()) return &*found;
    if (!required) return nullptr;
    constexpr std::size_t kKeysMax = 100;  // of an object that a person wrote
    std::vector<std::string> others;       // a mistyped key is one mistake, not two
    for (const auto& [other, unused] : value_->items()) {
        if (value_->size() > kKeysMax) break;
        if (!read_.contains(other)) others.push_back(other);
    }
    std::string meant;
    for (const std::string& other : similar_names(key, others)) {
        meant += fmt::format("{}\"{}\"", meant.empty() ? "; is it " : " or ", other);
        meant_.insert(other);
    }
    problems_.add(pointer_of(key), "missing, but required" + (meant.empty() ? "" : meant + "?"));
    return nullptr;
}

void JsonObject::problem(const std::string& key, const std::string& text) {
    problems_.add(pointer_of(key), text);
}

std::optional<std::string> JsonObject::string(const std::string& key, bool required) {
    const Json* found = member(key, required);
    if (found == nullptr) return std::nullopt;
    if (!found->is_string() || found->get_ref<const std::string&>().empty()) {
        problem(key, fmt::format("expected a text that is not empty, found {}", shown(*found)));
        return std::nullopt;
    }
    return found->get<std::string>();
}

std::optional<std::string> JsonObject::one_of(const std::string& key,
                                              std::initializer_list<std::string_view> allowed,
                                              bool required) {
    auto text = string(key, required);
    if (!text) return std::nullopt;
    for (const auto candidate : allowed) {
        if (*text == candidate) return text;
    }
    problem(key, fmt::format("expected one of {}, found \"{}\"{}", fmt::join(allowed, ", "),
                             shortened(*text, kValueBytesMax),
                             did_you_mean(*text, {allowed.begin(), allowed.end()})));
    return std::nullopt;
}

std::optional<std::int64_t> JsonObject::integer(const std::string& key,
                                                std::int64_t min,
                                                std::int64_t max,
                                                bool required) {
    const Json* found = member(key, required);
    if (found == nullptr) return std::nullopt;
    const bool too_large = found->is_number_unsigned() && found->get<std::uint64_t>() > INT64_MAX;
    if (found->is_number_integer() && !too_large) {
        const auto value = found->get<std::int64_t>();
        if (value >= min && value <= max) return value;
    }
    problem(key, fmt::format("expected an integer from {} to {}, found {}", min, max, shown(*found)));
    return std::nullopt;
}

std::optional<double> JsonObject::number(const std::string& key, double min, double max, bool required) {
    const Json* found = member(key, required);
    if (found == nullptr) return std::nullopt;
    if (found->is_number()) {
        const auto value = found->get<double>();
        if (value >= min && value <= max) return value;
    }
    problem(key, fmt::format("expected a number from {} to {}, found {}", min, max, shown(*found)));
    return std::nullopt;
}

std::optional<bool> JsonObject::boolean(const std::string& key, bool required) {
    const Json* found = member(key, required);
    if (found == nullptr) return std::nullopt;
    if (found->is_boolean()) return found->get<bool>();
    problem(key, fmt::format("expected true or false, found {}", shown(*found)));
    return std::nullopt;
}

std::optional<FrameRate> JsonObject::rate(const std::string& key, bool required) {
    const Json* found = member(key, required);
    if (found == nullptr) return std::nullopt;
    constexpr std::int64_t kMax = 1'000'000;
    if (found->is_array() && found->size() == 2 && (*found)[0].is_number_integer() &&
        (*found)[1].is_number_integer()) {
        const FrameRate rate{(*found)[0].get<std::int64_t>(), (*found)[1].get<std::int64_t>()};
        if (rate.num > 0 && rate.num <= kMax && rate.den > 0 && rate.den <= kMax) return rate;
    }
    problem(key,
            fmt::format("expected a frame rate [num, den] such as [24000, 1001], found {}", shown(*found)));
    return std::nullopt;
}

std::optional<Duration> JsonObject::duration(const std::string& key, bool required) {
    const auto text = string(key, required);
    if (!text) return std::nullopt;
    const auto parsed = parse_duration(*text);
    if (parsed) return *parsed;
    problem(key, parsed.error().problems.front());
    return std::nullopt;
}

void JsonObject::finish() {
    if (value_ == nullptr) return;
    for (const auto& [key, unused] : value_->items()) {
        if (read_.contains(key) || meant_.contains(key)) continue;
        if (problems_.enough()) {  // only counted
            problems_.add(pointer_of(key), "unknown key");
            continue;
        }
        // A key that the document has is not meant by another one.
        std::vector<std::string> known;
        for (const std::string& each : read_) {
            if (!value_->contains(each)) known.push_back(each);
        }
        problems_.add(pointer_of(key), "unknown key" + did_you_mean(key, known));
    }
}

void check_schema(JsonObject& object, std::string_view schema, int version) {
    const auto name = object.string("schema");
    if (name && *name != schema) object.problem("schema", fmt::format("expected \"{}\"", schema));
    object.integer("version", version, version);
}

}  // namespace streamsim
