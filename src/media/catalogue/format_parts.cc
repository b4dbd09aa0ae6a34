#include "media/catalogue/format_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/ascii.h"
#include "base/similar_names.h"
#include "media/catalogue/catalogue.h"
#include "media/frames/frame_maker.h"
#include "media/image/dpx.h"
#include "media/own_files/own_names.h"

namespace streamsim::media {
namespace {

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
constexpr std::int64_t kImageOffsetMax = 1 << 20;
/// The length of a DPX file, of a ProRes frame and of a sample in a container is a 32-bit field.
constexpr std::uint64_t kFrameBytesMax = UINT32_MAX;
constexpr double kBitsPerSecondMax = 1e12;
constexpr std::int64_t kShotFramesMax = 1'000'000;
constexpr std::size_t kGopMax = 10'000;
constexpr double kWeightMin = 0.01;
constexpr double kWeightMax = 100;

/// The container and the profiles of each codec. "other" is any codec that is not listed: null: and sim: play
/// it, and prepare cannot make it.
struct CodecFacts {
    std::string_view codec;
    std::vector<std::string_view> containers;
    std::vector<std::string_view> profiles;  // empty: any text, or none
};
const std::vector<CodecFacts>& codecs() {
    static const std::vector<CodecFacts> all = {
        {"dpx", {"sequence"}, {}},
        {"prores", {"quicktime"}, {"apco", "apcs", "apcn", "apch", "ap4h", "ap4x"}},
        {"dnxhr", {"mxf", "quicktime"}, {"lb", "sq", "hq", "hqx", "444"}},
        {"exr", {"sequence"}, {"none", "zip", "zips", "piz", "dwaa", "dwab", "b44"}},
        {"tiff", {"sequence"}, {}},
        {"cineon", {"sequence"}, {}},
        {"v210", {"quicktime"}, {}},
        {"h264", {"mxf", "mp4", "quicktime"}, {"avci100", "avci200", "xavc300", "xavc480", "long-gop"}},
        {"jpeg2000", {"mxf"}, {}},
        {"arriraw", {"mxf", "sequence"}, {}},
        {"other", {"sequence", "quicktime", "mp4", "mxf"}, {}},
    };
    return all;
}

const CodecFacts* codec_facts(std::string_view codec) {
    const auto found = std::find_if(codecs().begin(), codecs().end(),
                                    [codec](const CodecFacts& facts) { return facts.codec == codec; });
    return found == codecs().end() ? nullptr : &*found;
}

/// A list as an object whose keys are its positions: JsonObject then reads its elements, and names them.
Json by_position(const Json& list) {
    Json object = Json::object();
    for (std::size_t i = 0; i < list.size(); ++i) object[std::to_string(i)] = list[i];
    return object;
}

std::vector<FrameRate> rates_of(const Json& list, const std::string& pointer, JsonProblems& problems) {
    std::vector<FrameRate> rates;
    if (!list.is_array() || list.empty()) {
        problems.add(pointer, fmt::format("expected a list of frame rates such as [[24, 1], [24000, 1001]], "
                                          "found {}",
                                          json_text(list)));
        return rates;
    }
    const Json indexed = by_position(list);
    JsonObject object(indexed, pointer, problems);
    for (std::size_t i = 0; i < list.size(); ++i) {
        const std::string key = std::to_string(i);
        const auto rate = object.rate(key);
        if (!rate) continue;
        const auto same = [&](FrameRate other) { return other.num * rate->den == rate->num * other.den; };
        if (std::any_of(rates.begin(), rates.end(), same)) {
            object.problem(key, "this rate is in the list already");
        }
        rates.push_back(*rate);
    }
    return rates;
}

void read_table(JsonObject& sizes, JsonProblems& problems, FrameSizeModel& model) {
    const Json* list = sizes.member("bytes");
    if (list == nullptr) return;
    if (!list->is_array() || list->empty()) {
        sizes.problem("bytes", "expected a list of frame sizes in bytes");
        return;
    }
    const Json indexed = by_position(*list);
    JsonObject object(indexed, sizes.pointer_of("bytes"), problems);
    for (std::size_t i = 0; i < list->size(); ++i) {
        const auto bytes = object.integer(std::to_string(i), 1, static_cast<std::int64_t>(kFrameBytesMax));
        if (bytes) model.table.push_back(static_cast<std::uint32_t>(*bytes));
    }
}

void read_scene(JsonObject& sizes, FrameSizeModel& model) {
    model.level_min = sizes.number("level_min", 0.01, 10).value_or(1);
    model.level_max = sizes.number("level_max", 0.01, 10).value_or(10);
    model.shot_frames_min = sizes.integer("shot_frames_min", 1, kShotFramesMax).value_or(1);
    model.shot_frames_max = sizes.integer("shot_frames_max", 1, kShotFramesMax).value_or(kShotFramesMax);
    model.variation = sizes.number("variation", 0, 1).value_or(0);
    model.correlation = sizes.number("correlation", 0, 0.9999).value_or(0);
    model.cap = sizes.number("cap", 1, 10).value_or(1);
    if (model.level_max < model.level_min) sizes.problem("level_max", "expected at least level_min");
    if (model.shot_frames_max < model.shot_frames_min) {
        sizes.problem("shot_frames_max", "expected at least shot_frames_min");
    }
}

void read_long_gop(JsonObject& sizes, FrameSizeModel& model) {
    const auto gop = sizes.string("gop");
    if (gop) {
        const bool one_i = gop->front() == 'I' && gop->find('I', 1) == std::string::npos;
        if (!one_i || gop->find_first_not_of("IPB") != std::string::npos || gop->size() > kGopMax) {
            sizes.problem("gop",
                          fmt::format("expected the letters I, P and B, one a frame in the order in which "
                                      "they are stored, {} at most, with the one I first; found \"{}\"",
                                      kGopMax, gop->substr(0, 64)));
        } else {
            model.gop = *gop;
        }
    }
    model.weight_i = sizes.number("weight_i", kWeightMin, kWeightMax).value_or(1);
    model.weight_p = sizes.number("weight_p", kWeightMin, kWeightMax).value_or(1);
    model.weight_b = sizes.number("weight_b", kWeightMin, kWeightMax).value_or(1);
    model.variation = sizes.number("variation", 0, 1).value_or(0);
    model.cap = sizes.number("cap", 1, 100).value_or(1);
}

std::optional<std::string> set_dpx_size(MediaFormat& format) {
    const DpxLayout& layout = format.dpx;
    const std::uint64_t image =
        dpx_image_bytes(static_cast<std::uint64_t>(format.width), static_cast<std::uint64_t>(format.height),
                        layout.bits, layout.packing);
    const std::uint64_t file = layout.image_offset + image;
    format.mean_frame_bytes = format.size.mean_bytes = static_cast<double>(file);
    if (file <= kFrameBytesMax) return std::nullopt;
    return fmt::format("a frame would have {} bytes, and a DPX file holds {} at most", file, kFrameBytesMax);
}

std::optional<std::string> set_table_size(MediaFormat& format) {
    const std::vector<std::uint32_t>& table = format.size.table;
    if (table.empty()) return std::nullopt;  // a problem that was noted
    double sum = 0;
    for (const std::uint32_t bytes : table) sum += static_cast<double>(bytes);
    format.mean_frame_bytes = format.size.mean_bytes = sum / static_cast<double>(table.size());
    const std::uint32_t smallest = *std::min_element(table.begin(), table.end());
    if (smallest >= frame_bytes_min(format)) return std::nullopt;
    return fmt::format("a frame of {} bytes is in the table, and the smallest {} frame of this raster has {}",
                       smallest, format.codec, frame_bytes_min(format));
}

}  // namespace

std::optional<double> MeanBytes::at(FrameRate rate) const {
    if (bytes) return bytes;
    if (bits_per_s) return *bits_per_s * static_cast<double>(rate.den) / (8 * static_cast<double>(rate.num));
    for (const auto& [listed, mean] : by_rate) {
        if (listed.num * rate.den == rate.num * listed.den) return mean;
    }
    return std::nullopt;
}

std::string rate_label(FrameRate rate) {
    for (const char* name : {"23.976", "29.97", "47.952", "59.94"}) {
        if (*FrameRate::parse(name) == rate) return name;
    }
    if (rate.num % rate.den == 0) return std::to_string(rate.num / rate.den);
    std::string decimal = fmt::format("{}.{:03}", rate.num / rate.den, rate.num * 1000 / rate.den % 1000);
    while (decimal.back() == '0') decimal.pop_back();
    // 2997/125 is 23.976 exactly, and who says 23.976 means another rate.
    const auto read = FrameRate::parse(decimal);
    const bool exact = read && read->num * rate.den == rate.num * read->den;
    return exact ? decimal : fmt::format("{}-{}", rate.num, rate.den);
}

std::optional<std::string> read_format_name(JsonObject& object) {
    auto name = object.string("name");
    if (!name) return std::nullopt;
    const bool begins = kLetters.find(name->front()) != std::string_view::npos;
    const bool all = std::all_of(name->begin(), name->end(), [](char c) {
        return kLetters.find(c) != std::string_view::npos || c == '-' || c == '_' || c == '.';
    });
    const std::string lower = to_lower(*name);
    if (lower == kRecordings || lower == kLoadDirectory) {
        object.problem("name", fmt::format("expected another name than {} and {}, which are directories of "
                                           "every media set, found \"{}\"",
                                           kLoadDirectory, kRecordings, *name));
        return std::nullopt;
    }
    if (begins && all && name->size() <= 64) return name;
    object.problem("name", fmt::format("expected up to 64 of A-Z a-z 0-9 - _ . beginning with a letter or a "
                                       "digit, because it names a directory, found \"{}\"",
                                       *name));
    return std::nullopt;
}

std::optional<std::string> read_codec(JsonObject& object, MediaFormat& format) {
    using Container = MediaFormat::Container;
    const auto container =
        object.one_of("container", {container_word(Container::sequence), container_word(Container::quicktime),
                                    container_word(Container::mp4), container_word(Container::mxf)});
    auto codec = object.string("codec");
    if (container) format.container = *container_of(*container);
    if (!codec) return std::nullopt;
    const CodecFacts* facts = codec_facts(*codec);
    if (facts == nullptr) {
        std::vector<std::string_view> known;
        for (const CodecFacts& one : codecs()) known.push_back(one.codec);
        object.problem("codec", fmt::format("expected one of {}, found \"{}\"{}", fmt::join(known, ", "),
                                            *codec, did_you_mean(*codec, {known.begin(), known.end()})));
        return std::nullopt;
    }
    format.codec = *codec;
    const auto& fits = facts->containers;
    if (container && std::find(fits.begin(), fits.end(), *container) == fits.end()) {
        object.problem("container",
                       fmt::format("expected \"{}\" with codec \"{}\"", fmt::join(fits, "\" or \""), *codec));
    }
    return codec;
}

void read_profile(JsonObject& object, MediaFormat& format) {
    const CodecFacts* facts = codec_facts(format.codec);
    const bool listed = facts != nullptr && !facts->profiles.empty();
    const auto profile = object.string("profile", listed);
    if (!profile) return;
    if (listed &&
        std::find(facts->profiles.begin(), facts->profiles.end(), *profile) == facts->profiles.end()) {
        object.problem(
            "profile",
            fmt::format("expected one of {}, found \"{}\"{}", fmt::join(facts->profiles, ", "), *profile,
                        did_you_mean(*profile, {facts->profiles.begin(), facts->profiles.end()})));
        return;
    }
    format.profile = *profile;
}

std::vector<FrameRate> read_rates(JsonObject& object, JsonProblems& problems, bool required) {
    const Json* list = object.member("rates", required);
    if (list == nullptr) return {};
    return rates_of(*list, object.pointer_of("rates"), problems);
}

void read_dpx_layout(JsonObject& object, JsonProblems& problems, MediaFormat& format) {
    const Json* member = object.member("dpx");
    if (member == nullptr) return;
    JsonObject dpx(*member, object.pointer_of("dpx"), problems);
    const auto bits = dpx.integer("bits", 8, 16);
    if (bits && *bits != 8 && *bits != 10 && *bits != 12 && *bits != 16) {
        dpx.problem("bits", fmt::format("expected 8, 10, 12 or 16, found {}", *bits));
    }
    const auto packing = dpx.one_of("packing", {"packed", "filled-a", "filled-b"});
    const auto order = dpx.one_of("byte_order", {"big", "little"});
    const auto offset =
        dpx.integer("image_offset", static_cast<std::int64_t>(kDpxHeaderBytes), kImageOffsetMax);
    if (offset && *offset % 8 != 0) dpx.problem("image_offset", "expected a multiple of 8");
    dpx.finish();
    if (!bits || !packing || !order || !offset) return;
    DpxLayout& layout = format.dpx;
    layout.bits = static_cast<int>(*bits);
    layout.packing = *packing == "packed" ? 0 : *packing == "filled-a" ? 1 : 2;
    layout.big_endian = *order == "big";
    layout.image_offset = static_cast<std::uint32_t>(*offset);
}

void read_size_model(JsonObject& sizes, JsonProblems& problems, FrameSizeModel& model) {
    using Kind = FrameSizeModel::Kind;
    const auto kind = sizes.one_of("model", {"constant", "table", "scene", "long_gop"});
    if (!kind) {  // whatever it is meant to be: not an unknown key
        for (const char* key : {"bytes", "level_min", "level_max", "shot_frames_min", "shot_frames_max",
                                "variation", "correlation", "cap", "gop", "weight_i", "weight_p", "weight_b"}) {
            sizes.member(key, false);
        }
        return;
    }
    model.kind = *kind == "constant" ? Kind::constant
                 : *kind == "table"  ? Kind::table
                 : *kind == "scene"  ? Kind::scene
                                     : Kind::long_gop;
    if (model.kind == Kind::table) read_table(sizes, problems, model);
    if (model.kind == Kind::scene) read_scene(sizes, model);
    if (model.kind == Kind::long_gop) read_long_gop(sizes, model);
}

std::string read_mean(JsonObject& sizes, JsonProblems& problems, MeanBytes& mean) {
    std::vector<std::string> there;
    for (const char* key : {"mean_bytes", "mean_bits_per_s", "mean_bytes_at"}) {
        if (sizes.has(key)) there.emplace_back(key);
    }
    mean.bytes = sizes.number("mean_bytes", 1, static_cast<double>(kFrameBytesMax), false);
    mean.bits_per_s = sizes.number("mean_bits_per_s", 1, kBitsPerSecondMax, false);
    if (const Json* list = sizes.member("mean_bytes_at", false); list != nullptr) {
        read_bytes_by_rate(*list, sizes.pointer_of("mean_bytes_at"), problems, mean);
    }
    if (there.size() == 1) return there.front();
    std::string key = there.empty() ? "mean_bits_per_s" : there.back();
    sizes.problem(key, "expected exactly one of mean_bytes, mean_bits_per_s and mean_bytes_at");
    return key;
}

void read_bytes_by_rate(const Json& list, const std::string& pointer, JsonProblems& problems, MeanBytes& mean) {
    if (!list.is_array() || list.empty()) {
        problems.add(pointer, "expected a list of {\"rates\", \"bytes\"}");
        return;
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
        JsonObject one(list[i], fmt::format("{}/{}", pointer, i), problems);
        const std::vector<FrameRate> rates = read_rates(one, problems, true);
        const auto bytes = one.number("bytes", 1, static_cast<double>(kFrameBytesMax));
        one.finish();
        if (!bytes) continue;
        for (const FrameRate& rate : rates) {
            if (mean.at(rate)) one.problem("rates", fmt::format("{} has a size already", rate_label(rate)));
            mean.by_rate.emplace_back(rate, *bytes);
        }
    }
}

void read_sources(JsonObject& object,
                  JsonProblems& problems,
                  bool required,
                  std::vector<std::string>& sources) {
    const Json* member = object.member("sources", required);
    if (member == nullptr) return;
    if (!member->is_array() || member->empty()) {
        object.problem("sources", "expected a list of {\"what\", \"basis\"}: what each number rests on");
        return;
    }
    for (std::size_t i = 0; i < member->size(); ++i) {
        JsonObject source((*member)[i], fmt::format("{}/{}", object.pointer_of("sources"), i), problems);
        const auto what = source.string("what");
        const auto basis = source.string("basis");
        source.finish();
        if (what && basis) sources.push_back(*what + ": " + *basis);
    }
}

std::optional<std::string> set_sizes(MediaFormat& format, const MeanBytes& mean) {
    if (format.codec == "dpx") return set_dpx_size(format);
    FrameSizeModel& model = format.size;
    if (model.kind == FrameSizeModel::Kind::table) return set_table_size(format);
    const auto bytes = mean.at(format.rate);
    if (!bytes) return fmt::format("no size is given for {} fps", rate_label(format.rate));
    const bool constant = model.kind == FrameSizeModel::Kind::constant;
    model.mean_bytes = constant ? std::floor(*bytes) : *bytes;
    format.mean_frame_bytes = model.mean_bytes;
    if (constant) model.cap = 1;
    const std::uint64_t least = frame_bytes_min(format);
    if (model.mean_bytes < static_cast<double>(least)) {
        return fmt::format(
            "this gives {:.0f} bytes a frame at {} fps, and the smallest {} frame of this raster "
            "has {}",
            *bytes, rate_label(format.rate), format.codec, least);
    }
    if (model.mean_bytes * model.cap >= static_cast<double>(kFrameBytesMax)) {
        return fmt::format("this gives frames of up to {:.0f} bytes at {} fps, and a frame has less than {}",
                           model.mean_bytes * model.cap, rate_label(format.rate), kFrameBytesMax);
    }
    return std::nullopt;
}

}  // namespace streamsim::media
