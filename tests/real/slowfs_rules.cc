#include "real/slowfs_rules.h"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

namespace slowfs {
namespace {

using Words = std::map<std::string, std::string>;

constexpr std::uint32_t kGenericBytes = 1664;
constexpr std::uint32_t kIndustryBytes = 384;

std::uint64_t to_count(const std::string& text) {
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stop != end) throw std::runtime_error("not a whole number: '" + text + "'");
    return value;
}

std::int64_t to_ns(const std::string& text) {
    static const std::map<std::string, double> units{{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    const std::size_t digits = text.find_first_not_of("0123456789.");
    const auto unit = digits == std::string::npos ? units.end() : units.find(text.substr(digits));
    if (digits == 0 || unit == units.end()) throw std::runtime_error("not a time: '" + text + "'");
    return std::llround(std::stod(text.substr(0, digits)) * unit->second);
}

int to_errno(const std::string& text) {
    static const std::map<std::string, int> names{
        {"EIO", EIO}, {"EACCES", EACCES}, {"ENOENT", ENOENT}, {"ESTALE", ESTALE}, {"ETIMEDOUT", ETIMEDOUT}};
    const auto found = names.find(text);
    if (found == names.end()) throw std::runtime_error("not a known error: '" + text + "'");
    return found->second;
}

// The key=value words after the clip's name.
Words read_words(std::istringstream& line) {
    Words words;
    for (std::string word; line >> word;) {
        const std::size_t equals = word.find('=');
        if (equals == std::string::npos) throw std::runtime_error("expected key=value: '" + word + "'");
        words[word.substr(0, equals)] = word.substr(equals + 1);
    }
    return words;
}

std::string take(Words& words, const std::string& key, const std::string& otherwise) {
    const auto found = words.find(key);
    if (found == words.end()) return otherwise;
    std::string value = found->second;
    words.erase(found);
    return value;
}

void expect_none(const Words& words) {
    if (!words.empty()) throw std::runtime_error("unknown key '" + words.begin()->first + "'");
}

void put(std::vector<char>& into, std::size_t at, std::uint32_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; i++) {
        into[at + i] = static_cast<char>((value >> (8 * (bytes - 1 - i))) & 0xff);
    }
}

void put_float(std::vector<char>& into, std::size_t at, double value) {
    const float narrow = static_cast<float>(value);
    std::uint32_t word = 0;
    std::memcpy(&word, &narrow, sizeof word);
    put(into, at, word, 4);
}

// A big-endian DPX header (ST 268) with the fields that a reader needs.
void write_header(Clip& clip) {
    std::vector<char>& file = clip.image;
    std::memset(file.data(), 0, clip.offset);
    std::memcpy(file.data(), "SDPX", 4);
    put(file, 4, clip.offset, 4);
    std::memcpy(file.data() + 8, "V2.0\0\0\0\0", 8);
    put(file, 16, static_cast<std::uint32_t>(file.size()), 4);
    put(file, 24, kGenericBytes, 4);
    put(file, 28, kIndustryBytes, 4);
    put(file, 32, clip.offset - kGenericBytes - kIndustryBytes, 4);
    put(file, 768, 0, 2);  // left to right, top to bottom
    put(file, 770, 1, 2);  // one image element
    put(file, 772, clip.width, 4);
    put(file, 776, clip.height, 4);
    put(file, 800, 50, 1);  // RGB
    put(file, 803, clip.bits, 1);
    put(file, 804, 1, 2);  // filled to words, method A
    put(file, 806, 0, 2);  // not compressed
    put(file, 808, clip.offset, 4);
    put(file, 812, 0, 4);
    put(file, 816, 0, 4);
    put_float(file, 1724, clip.fps);
    put_float(file, 1940, clip.fps);
}

void make_image(Clip& clip) {
    const std::uint64_t pixel_bytes = clip.bits == 10 ? 4 : clip.bits == 12 ? 6 : 0;
    if (pixel_bytes == 0) throw std::runtime_error("bits is 10 or 12");
    if (clip.offset < kGenericBytes + kIndustryBytes) throw std::runtime_error("offset is below 2048");
    clip.image.resize(clip.offset + pixel_bytes * clip.width * clip.height);
    std::uint64_t state = 88172645463325252ULL;
    for (std::size_t i = clip.offset; i < clip.image.size(); i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        clip.image[i] = static_cast<char>(state);
    }
    write_header(clip);
    for (Frame& frame : clip.frames) frame.bytes = clip.image.size();
}

std::unique_ptr<Clip> new_clip(const std::string& path, Words words) {
    auto clip = std::make_unique<Clip>();
    clip->path = path;
    clip->frames.resize(to_count(take(words, "frames", "240")));
    clip->width = static_cast<std::uint32_t>(to_count(take(words, "width", "256")));
    clip->height = static_cast<std::uint32_t>(to_count(take(words, "height", "64")));
    clip->bits = static_cast<std::uint32_t>(to_count(take(words, "bits", "10")));
    clip->offset = static_cast<std::uint32_t>(to_count(take(words, "offset", "8192")));
    clip->fps = std::stod(take(words, "fps", "24"));
    expect_none(words);
    make_image(*clip);
    return clip;
}

// "7", "7..12", "every:2" or "*", as positions from 0.
std::vector<std::size_t> frames_of(const Clip& clip, const std::string& text) {
    std::size_t first = 1, last = clip.frames.size(), step = 1;
    if (text.starts_with("every:")) {
        first = step = to_count(text.substr(6));
    } else if (const std::size_t dots = text.find(".."); dots != std::string::npos) {
        first = to_count(text.substr(0, dots));
        last = to_count(text.substr(dots + 2));
    } else if (text != "*") {
        first = last = to_count(text);
    }
    if (first < 1 || last > clip.frames.size() || step < 1) {
        throw std::runtime_error("no such frame: '" + text + "'");
    }
    std::vector<std::size_t> result;
    for (std::size_t number = first; number <= last; number += step) result.push_back(number - 1);
    return result;
}

void add_rule(Clip& clip, const std::string& verb, Words words) {
    const std::vector<std::size_t> positions = frames_of(clip, take(words, "frame", "*"));
    const std::string bytes = take(words, "bytes", "");
    Rule rule;
    rule.byte = to_count(take(words, "byte", std::to_string(clip.image.size() - 1)));
    rule.pass = to_count(take(words, "pass", "0"));
    rule.delay_ns = to_ns(take(words, "delay", "0s"));
    if (const std::string error = take(words, "error", ""); !error.empty()) rule.error = to_errno(error);
    expect_none(words);
    for (const std::size_t position : positions) {
        Frame& frame = clip.frames[position];
        if (verb == "missing") {
            frame.missing = true;
        } else if (verb == "short") {
            frame.bytes = std::min<std::uint64_t>(to_count(bytes), clip.image.size());
        } else if (verb == "read" || verb == "open") {
            auto copy = std::make_unique<Rule>();
            copy->byte = rule.byte;
            copy->pass = rule.pass;
            copy->delay_ns = rule.delay_ns;
            copy->error = rule.error;
            (verb == "read" ? frame.reads : frame.opens).push_back(std::move(copy));
        } else {
            throw std::runtime_error("unknown word '" + verb + "'");
        }
    }
}

void read_line(Rules& rules, const std::string& text) {
    std::istringstream line(text.substr(0, text.find('#')));
    std::string verb, name;
    if (!(line >> verb)) return;
    if (!(line >> name)) throw std::runtime_error("expected a clip after '" + verb + "'");
    if (verb == "rate") {
        rules.bytes_per_s = to_count(name);
        return;
    }
    if (verb == "clip") {
        rules.clips.push_back(new_clip(name, read_words(line)));
        return;
    }
    for (const std::unique_ptr<Clip>& clip : rules.clips) {
        if (clip->path == name) return add_rule(*clip, verb, read_words(line));
    }
    throw std::runtime_error("no clip '" + name + "' above this line");
}

}  // namespace

Rules read_rules(const std::string& path) {
    std::ifstream in(path);
    if (!in) throw std::runtime_error(path + ": cannot be read");
    Rules rules;
    std::size_t number = 0;
    for (std::string line; std::getline(in, line);) {
        number++;
        try {
            read_line(rules, line);
        } catch (const std::exception& error) {
            throw std::runtime_error(path + ":" + std::to_string(number) + ": " + error.what());
        }
    }
    return rules;
}

}  // namespace slowfs
