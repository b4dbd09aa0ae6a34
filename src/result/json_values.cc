#include "result/json_values.h"

#include <fmt/format.h>

#include <limits>

#include "base/system/errno_name.h"

namespace streamsim::result {
namespace {

constexpr std::size_t kFoundBytesMax = 60;  // of a value that was not expected

template <typename Integer>
void read_integer(const JsonNode& node,
                  Integer& value,
                  std::int64_t min = 0,
                  std::uint64_t max = static_cast<std::uint64_t>(std::numeric_limits<Integer>::max())) {
    if (node.json.is_number_unsigned() && node.json.get<std::uint64_t>() <= max) {
        value = static_cast<Integer>(node.json.get<std::uint64_t>());
    } else if (node.json.is_number_integer() && !node.json.is_number_unsigned() &&
               node.json.get<std::int64_t>() >= min) {
        value = static_cast<Integer>(node.json.get<std::int64_t>());
    } else {
        node.expected(fmt::format("an integer from {} to {}", min, max));
    }
}

}  // namespace

void JsonNode::expected(const std::string& what) const {
    const bool large = json.is_structured() && json.size() > 2;
    std::string found = large ? json.type_name() : json_text(json);
    if (found.size() > kFoundBytesMax) {
        std::size_t end = kFoundBytesMax;
        while ((static_cast<unsigned char>(found[end]) & 0xc0) == 0x80) --end;  // no half characters
        found = found.substr(0, end) + "...";
    }
    problems.add(pointer, fmt::format("expected {}, found {}", what, found));
}

void read_value(const JsonNode& node, std::uint64_t& value) {
    read_integer(node, value);
}
void read_value(const JsonNode& node, std::uint32_t& value) {
    read_integer(node, value);
}
void read_value(const JsonNode& node, std::int64_t& value) {
    read_integer(node, value, -kFarthestNs, std::uint64_t{kFarthestNs});
}
void read_value(const JsonNode& node, int& value) {
    read_integer(node, value);
}

void read_value(const JsonNode& node, double& value) {
    if (node.json.is_null()) {
        value = std::numeric_limits<double>::quiet_NaN();
    } else if (node.json.is_number()) {
        value = node.json.get<double>();
    } else {
        node.expected("a number or null");
    }
}

void read_value(const JsonNode& node, bool& value) {
    if (!node.json.is_boolean()) return node.expected("true or false");
    value = node.json.get<bool>();
}

void read_value(const JsonNode& node, std::string& value) {
    if (!node.json.is_string()) return node.expected("a text");
    value = node.json.get<std::string>();
}

void read_value(const JsonNode& node, FrameRate& value) {
    std::int64_t parts[2] = {};
    bool good = node.json.is_array() && node.json.size() == 2;
    for (std::size_t i = 0; good && i < 2; ++i) {
        const Json& part = node.json[i];
        good = part.is_number_unsigned() && part.get<std::uint64_t>() > 0 &&
               part.get<std::uint64_t>() <= INT64_MAX;
        if (good) parts[i] = part.get<std::int64_t>();
    }
    // No media have less, and some periods are a time.
    good = good && parts[1] / parts[0] <= INT32_MAX;
    if (!good) return node.expected("a frame rate [num, den] such as [24000, 1001]");
    value = {parts[0], parts[1]};
}

void read_error_name(const JsonNode& node, int& value) {
    if (!node.json.is_string()) return read_value(node, value);
    const auto code = errno_from_name(node.json.get_ref<const std::string&>());
    if (!code) return node.expected("the name of an error such as EIO");
    value = *code;
}

std::size_t read_word(const JsonNode& node, const std::vector<const char*>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (node.json.is_string() && node.json.get_ref<const std::string&>() == words[i]) return i;
    }
    node.expected(fmt::format("one of {}", fmt::join(words, ", ")));
    return words.size();
}

}  // namespace streamsim::result
