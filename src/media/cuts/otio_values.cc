#include "media/cuts/otio_values.h"

#include <cmath>
#include <numeric>

namespace streamsim::media {
namespace {

int hex(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

}  // namespace

std::optional<FrameRate> otio_rate(double value) {
    if (!(value >= 1) || value > kOtioRateMax) return std::nullopt;
    const double whole = std::round(value);
    if (std::abs(value - whole) < 1e-6) return FrameRate{static_cast<std::int64_t>(whole), 1};
    const auto nominal = static_cast<std::int64_t>(std::ceil(value));
    if (std::abs(value - static_cast<double>(nominal) * 1000 / 1001) < 0.006)
        return FrameRate{nominal * 1000, 1001};
    const auto thousandths = static_cast<std::int64_t>(std::llround(value * 1000));
    const std::int64_t divisor = std::gcd(thousandths, std::int64_t{1000});
    return FrameRate{thousandths / divisor, 1000 / divisor};
}

std::string without_infinities(std::string_view text) {
    std::string out(text);
    bool quoted = false;
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (out[i] == '"') quoted = !quoted;
        if (quoted) {
            if (out[i] == '\\') ++i;
            continue;
        }
        for (const std::string_view literal : {"-Infinity", "Infinity", "-Inf", "Inf", "NaN"}) {
            if (!text.substr(i).starts_with(literal)) continue;
            out.replace(i, literal.size(), "\"\"" + std::string(literal.size() - 2, ' '));
            i += literal.size() - 1;
            break;
        }
    }
    return out;
}

std::string path_in_url(std::string_view url) {
    const std::size_t scheme = url.find("://");
    if (scheme != std::string_view::npos && scheme > 1) {
        url.remove_prefix(scheme + 3);
        const std::size_t host = url.find('/');
        url.remove_prefix(host == std::string_view::npos ? 0 : host);
    } else if (url.starts_with("file:")) {
        url.remove_prefix(5);
    }
    std::string out;
    for (std::size_t i = 0; i < url.size(); ++i) {
        const bool coded = url[i] == '%' && i + 2 < url.size() && hex(url[i + 1]) >= 2 && hex(url[i + 2]) >= 0;
        if (coded) {
            out += static_cast<char>(hex(url[i + 1]) * 16 + hex(url[i + 2]));
            i += 2;
        } else {
            out += url[i] == '\\' ? '/' : url[i];
        }
    }
    return out;
}

const Json& member(const Json& value, const char* key) {
    static const Json none;
    if (!value.is_object()) return none;
    const auto found = value.find(key);
    return found == value.end() ? none : *found;
}

std::string text_of(const Json& value, const char* key) {
    const Json& found = member(value, key);
    return found.is_string() ? found.get<std::string>() : "";
}

std::optional<FrameRate> rate_of(const Json& value) {
    return value.is_number() ? otio_rate(value.get<double>()) : std::nullopt;
}

std::string schema_of(const Json& value) {
    const std::string schema = text_of(value, "OTIO_SCHEMA");
    std::string name = schema.substr(0, schema.find('.'));
    if (name == "Sequence") return "Track";
    if (name == "Filler") return "Gap";
    if (name == "SerializeableCollection") return "SerializableCollection";
    return name;
}

bool is_enabled(const Json& value) {
    const Json& enabled = member(value, "enabled");
    return !enabled.is_boolean() || enabled.get<bool>();
}

std::pair<const Json*, std::string> active_reference(const Json& clip, const std::string& pointer) {
    if (const Json& references = member(clip, "media_references"); !references.is_null()) {
        std::string key = text_of(clip, "active_media_reference_key");
        if (key.empty()) key = "DEFAULT_MEDIA";
        return {&member(references, key.c_str()), pointer + "/media_references/" + key};
    }
    return {&member(clip, "media_reference"), pointer + "/media_reference"};
}

std::string reel_of(const Json& value) {
    return text_of(member(member(value, "metadata"), "cmx_3600"), "reel");
}

}  // namespace streamsim::media
