// Changes documents, for targets that read JSON: values instead of bytes, so that most of what it
// makes is JSON still, and gets past the parser. Each fourth change is one of bytes all the same.
#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/json.h"
#include "base/prng.h"

// NOLINTBEGIN(readability-identifier-naming): libFuzzer's names
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data,
                                               std::size_t size,
                                               std::size_t max_size,
                                               unsigned seed);
// NOLINTEND(readability-identifier-naming)

namespace streamsim::fuzz {
namespace {

/// Values at the ends of their kinds, and of no kind that is expected.
const std::vector<Json>& odd_values() {
    static const std::vector<Json> values = {0,
                                             1,
                                             -1,
                                             2,
                                             255,
                                             65'536,
                                             INT32_MAX,
                                             UINT32_MAX,
                                             std::uint64_t{1} << 53,
                                             INT64_MAX,
                                             INT64_MIN,
                                             UINT64_MAX,
                                             UINT64_MAX / 2 + 1,
                                             0.5,
                                             -0.0,
                                             1e-300,
                                             1e19,
                                             1e308,
                                             -1e308,
                                             nullptr,
                                             true,
                                             false,
                                             Json::array(),
                                             Json::object(),
                                             "",
                                             "x",
                                             "0",
                                             "10s",
                                             "1000000h",
                                             "1ns",
                                             "1GiB",
                                             "18446744073709551615B",
                                             "a/../b",
                                             "\x1b[31m",
                                             "\xe2\x80\xae",
                                             std::string(300, 'y'),
                                             Json::array({24'000, 1'001}),
                                             Json::array({1, 0})};
    return values;
}

class Mutation {
public:
    Mutation(Json& document, unsigned seed) : document_(document), prng_(seed) {}

    void apply() {
        for (std::uint64_t times = 1 + below(3); times > 0; --times) {
            nodes_.clear();
            collect(document_);
            change(*nodes_[below(nodes_.size())]);
        }
    }

private:
    std::uint64_t below(std::uint64_t count) { return prng_.next() % count; }

    void collect(Json& value) {
        nodes_.push_back(&value);
        if (!value.is_structured()) return;
        for (Json& each : value) collect(each);
    }

    void change(Json& node) {
        switch (below(6)) {
            case 0: node = odd_values()[below(odd_values().size())]; return;
            case 1: node = Json(*nodes_[below(nodes_.size())]); return;
            case 2: return remove_one(node);
            case 3:
                if (node.is_array() && !node.empty()) {
                    const Json copy = node[below(node.size())];
                    node.push_back(copy);
                }
                return;
            case 4: return change_text(node);
            default: return change_number(node);
        }
    }

    void remove_one(Json& node) {
        if (!node.is_structured() || node.empty()) return;
        auto at = node.begin();
        std::advance(at, static_cast<std::ptrdiff_t>(below(node.size())));
        node.erase(at);
    }

    void change_text(Json& node) {
        if (!node.is_string()) return;
        const std::string text = node.get<std::string>();
        std::vector<std::uint8_t> bytes(text.begin(), text.end());
        bytes.resize(text.size() + 16);
        bytes.resize(LLVMFuzzerMutate(bytes.data(), text.size(), bytes.size()));
        node = std::string(bytes.begin(), bytes.end());
    }

    void change_number(Json& node) {
        if (node.is_number_float()) {
            const double factors[] = {-1, 0.5, 2, 1e6, 1e-6};
            node = node.get<double>() * factors[below(std::size(factors))];
        } else if (node.is_number()) {
            const auto number = node.get<std::uint64_t>();
            const std::uint64_t changed[] = {number + 1, number - 1, number * 2,
                                             number / 2, 0 - number, number << 32};
            const std::uint64_t next = changed[below(std::size(changed))];
            if (node.is_number_unsigned()) {
                node = next;
            } else {
                node = static_cast<std::int64_t>(next);
            }
        }
    }

    Json& document_;
    Prng prng_;
    std::vector<Json*> nodes_;
};

/// The part of a text that is a document: all of it, or one of its lines.
std::string_view document_in(std::string_view text, unsigned seed) {
    if (Json::accept(text)) return text;
    std::vector<std::string_view> lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        if (Json::accept(text.substr(at, end - at))) lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return lines.empty() ? std::string_view() : lines[seed % lines.size()];
}

}  // namespace
}  // namespace streamsim::fuzz

// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data,
                                               std::size_t size,
                                               std::size_t max_size,
                                               unsigned seed) {
    using namespace streamsim;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::string_view part = seed % 4 == 0 ? std::string_view() : fuzz::document_in(text, seed / 4);
    if (part.empty()) return LLVMFuzzerMutate(data, size, max_size);
    Json document = Json::parse(part);
    fuzz::Mutation(document, seed).apply();
    const auto begin = static_cast<std::size_t>(part.data() - text.data());
    const std::string changed = std::string(text.substr(0, begin)) + json_text(document) +
                                std::string(text.substr(begin + part.size()));
    if (changed.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
    std::memcpy(data, changed.data(), changed.size());
    return changed.size();
}
