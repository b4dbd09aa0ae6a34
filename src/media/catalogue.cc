#include "media/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "media/dpx.h"
#include "media/prores.h"

namespace streamsim {
namespace {

constexpr std::string_view kSchema = "streamsim.media-format";
constexpr int kVersion = 1;
constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
constexpr std::int64_t kRasterMax = 32768;
constexpr std::int64_t kImageOffsetMax = 1 << 20;
/// The length of a DPX file, and of a ProRes frame, is a 32-bit field.
constexpr std::uint64_t kFrameBytesMax = UINT32_MAX;
constexpr double kBitsPerSecondMax = 1e12;
constexpr std::int64_t kShotFramesMax = 1'000'000;

/// Fills a MediaFormat from a document, one group of members after the other.
class FormatReader {
public:
    FormatReader(const Json& document, JsonProblems& problems)
        : problems_(problems), top_(document, "", problems) {}

    MediaFormat read() {
        check_schema(top_, kSchema, kVersion);
        read_name();
        format_.title = top_.string("title").value_or("");
        read_raster();
        const auto rate = top_.rate("rate");
        if (rate) format_.rate = *rate;
        const auto container = top_.one_of("container", {"sequence", "quicktime"});
        const auto codec = top_.one_of("codec", {"dpx", "prores"});
        if (codec && container) {
            format_.codec = *codec;
            const bool sequence = *codec == "dpx";
            format_.container = sequence ? MediaFormat::Container::sequence : MediaFormat::Container::quicktime;
            const char* const right = sequence ? "sequence" : "quicktime";
            if (*container != right) {
                top_.problem("container", fmt::format("expected \"{}\" with codec \"{}\"", right, *codec));
            }
        }
        if (codec == "dpx") read_dpx();
        if (codec == "prores") read_prores(rate.has_value());
        if (!codec) {  // whatever it is meant to be: not an unknown key
            top_.member("dpx", false);
            top_.member("prores", false);
        }
        read_sources();
        top_.finish();
        return format_;
    }

private:
    void read_name() {
        const auto name = top_.string("name");
        if (!name) return;
        format_.name = *name;
        const bool begins = kLetters.find(name->front()) != std::string_view::npos;
        const bool all = std::all_of(name->begin(), name->end(), [](char c) {
            return kLetters.find(c) != std::string_view::npos || c == '-' || c == '_' || c == '.';
        });
        if (!begins || !all || name->size() > 64) {
            top_.problem("name",
                         fmt::format("expected up to 64 of A-Z a-z 0-9 - _ . beginning with a letter or a "
                                     "digit, because it names a directory, found \"{}\"",
                                     *name));
        }
    }

    void read_raster() {
        const Json* member = top_.member("raster");
        if (member == nullptr) return;
        JsonObject raster(*member, "/raster", problems_);
        const auto width = raster.integer("width", 1, kRasterMax);
        const auto height = raster.integer("height", 1, kRasterMax);
        raster.finish();
        if (!width || !height) return;
        format_.width = static_cast<int>(*width);
        format_.height = static_cast<int>(*height);
    }
    bool has_raster() const { return format_.width > 0; }

    void read_dpx() {
        const Json* member = top_.member("dpx");
        if (member == nullptr) return;
        JsonObject dpx(*member, "/dpx", problems_);
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
        DpxLayout& layout = format_.dpx;
        layout.bits = static_cast<int>(*bits);
        layout.packing = *packing == "packed" ? 0 : *packing == "filled-a" ? 1 : 2;
        layout.big_endian = *order == "big";
        layout.image_offset = static_cast<std::uint32_t>(*offset);
        if (!has_raster()) return;
        const std::uint64_t image =
            dpx_image_bytes(static_cast<std::uint64_t>(format_.width),
                            static_cast<std::uint64_t>(format_.height), layout.bits, layout.packing);
        const std::uint64_t file = layout.image_offset + image;
        if (file > kFrameBytesMax) {
            top_.problem("raster", fmt::format("a frame would have {} bytes, and a DPX file holds {} at most",
                                               file, kFrameBytesMax));
        }
        format_.mean_frame_bytes = static_cast<double>(file);
    }

    void read_prores(bool has_rate) {
        const Json* member = top_.member("prores");
        if (member == nullptr) return;
        JsonObject prores(*member, "/prores", problems_);
        const auto fourcc = prores.one_of("fourcc", {"apco", "apcs", "apcn", "apch", "ap4h", "ap4x"});
        if (fourcc) format_.profile = *fourcc;
        const Json* sizes = prores.member("frame_sizes");
        if (sizes != nullptr) read_scene_model(*sizes, has_rate);
        prores.finish();
    }

    void read_scene_model(const Json& value, bool has_rate) {
        JsonObject object(value, "/prores/frame_sizes", problems_);
        FrameSizeModel& model = format_.size;
        object.one_of("model", {"scene"});
        model.kind = FrameSizeModel::Kind::scene;
        const auto mean = object.number("mean_bits_per_s", 1, kBitsPerSecondMax);
        model.level_min = object.number("level_min", 0.01, 10).value_or(1);
        model.level_max = object.number("level_max", 0.01, 10).value_or(10);
        model.shot_frames_min = object.integer("shot_frames_min", 1, kShotFramesMax).value_or(1);
        model.shot_frames_max = object.integer("shot_frames_max", 1, kShotFramesMax).value_or(kShotFramesMax);
        model.variation = object.number("variation", 0, 1).value_or(0);
        model.correlation = object.number("correlation", 0, 0.9999).value_or(0);
        model.cap = object.number("cap", 1, 10).value_or(1);
        if (model.level_max < model.level_min) object.problem("level_max", "expected at least level_min");
        if (model.shot_frames_max < model.shot_frames_min) {
            object.problem("shot_frames_max", "expected at least shot_frames_min");
        }
        object.finish();
        if (!mean || !has_rate || !has_raster()) return;
        model.mean_bytes =
            *mean * static_cast<double>(format_.rate.den) / (8 * static_cast<double>(format_.rate.num));
        format_.mean_frame_bytes = model.mean_bytes;
        check_mean(object);
    }

    void check_mean(JsonObject& object) {
        const std::uint64_t least = prores_frame_bytes_min(format_);
        const double mean = format_.size.mean_bytes;
        if (mean < static_cast<double>(least)) {
            object.problem(
                "mean_bits_per_s",
                fmt::format("this rate gives {:.0f} bytes a frame, and the smallest ProRes frame of this "
                            "raster has {}",
                            mean, least));
        }
        if (mean * format_.size.cap >= static_cast<double>(kFrameBytesMax)) {
            object.problem("mean_bits_per_s",
                           fmt::format("this rate gives frames of up to {:.0f} bytes, and a ProRes "
                                       "frame has less than {}",
                                       mean * format_.size.cap, kFrameBytesMax));
        }
    }

    void read_sources() {
        const Json* member = top_.member("sources");
        if (member == nullptr) return;
        if (!member->is_array() || member->empty()) {
            top_.problem("sources", "expected a list of {\"what\", \"basis\"}: what each number rests on");
            return;
        }
        for (std::size_t i = 0; i < member->size(); ++i) {
            JsonObject source((*member)[i], fmt::format("/sources/{}", i), problems_);
            const auto what = source.string("what");
            const auto basis = source.string("basis");
            source.finish();
            if (what && basis) format_.sources.push_back(*what + ": " + *basis);
        }
    }

    JsonProblems& problems_;
    JsonObject top_;
    MediaFormat format_;
};

void append(Error& all, const Error& more) {
    all.problems.insert(all.problems.end(), more.problems.begin(), more.problems.end());
}

/// The JSON documents of a directory, in name order.
Result<std::vector<std::filesystem::path>> documents_in(const std::string& directory) {
    std::vector<std::filesystem::path> paths;
    std::error_code error;
    std::filesystem::directory_iterator entries(directory, error);
    for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
        if (entries->path().extension() == ".json") paths.push_back(entries->path());
    }
    if (error)
        return environment_error(
            fmt::format("{}: cannot list the media formats: {}", directory, error.message()));
    if (paths.empty()) return environment_error(fmt::format("{}: no media formats (*.json) there", directory));
    std::sort(paths.begin(), paths.end());
    return paths;
}

}  // namespace

Result<MediaFormat> read_format(std::string_view text, const std::string& source) {
    const auto document = parse_json(text, source);
    if (!document) return document.error();
    JsonProblems problems(source);
    MediaFormat format = FormatReader(*document, problems).read();
    if (!problems.empty()) return problems.error();
    return format;
}

Json format_identity(const MediaFormat& format) {
    Json identity = {{"name", format.name},
                     {"codec", format.codec},
                     {"width", format.width},
                     {"height", format.height},
                     {"rate", {format.rate.num, format.rate.den}}};
    if (format.codec == "dpx") {
        identity["bits"] = format.dpx.bits;
        identity["packing"] = format.dpx.packing;
        identity["big_endian"] = format.dpx.big_endian;
        identity["image_offset"] = format.dpx.image_offset;
        return identity;
    }
    const FrameSizeModel& size = format.size;
    identity["fourcc"] = format.profile;
    identity["mean_bytes"] = size.mean_bytes;
    identity["level"] = {size.level_min, size.level_max};
    identity["shot_frames"] = {size.shot_frames_min, size.shot_frames_max};
    identity["variation"] = size.variation;
    identity["correlation"] = size.correlation;
    identity["cap"] = size.cap;
    return identity;
}

Result<Catalogue> Catalogue::load(const std::string& directory) {
    const auto paths = documents_in(directory);
    if (!paths) return paths.error();
    Catalogue catalogue;
    Error problems;
    for (const auto& path : *paths) {
        std::ifstream file(path, std::ios::binary);
        std::ostringstream text;
        text << file.rdbuf();
        if (!file) return environment_error(fmt::format("{}: cannot be read", path.string()));
        auto format = read_format(text.str(), path.string());
        if (!format) {
            append(problems, format.error());
        } else if (format->name != path.stem()) {
            append(problems,
                   bad_input(fmt::format("{}: /name: expected \"{}\", the name of the file, found \"{}\"",
                                         path.string(), path.stem().string(), format->name)));
        } else {
            catalogue.formats_.push_back(std::move(*format));
        }
    }
    if (!problems.problems.empty()) return problems;
    return catalogue;
}

const MediaFormat* Catalogue::find(std::string_view name) const {
    const auto found = std::find_if(formats_.begin(), formats_.end(),
                                    [name](const MediaFormat& format) { return format.name == name; });
    return found == formats_.end() ? nullptr : &*found;
}

}  // namespace streamsim
