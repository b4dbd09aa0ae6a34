#include "media/catalogue/format_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "media/catalogue/format_parts.h"
#include "media/frames/frame_maker.h"

namespace streamsim::media {
namespace {

constexpr std::string_view kFormatSchema = "streamsim.media-format";
constexpr std::string_view kFamilySchema = "streamsim.media-family";
constexpr int kVersion = 1;
constexpr std::int64_t kRasterMax = 32768;
constexpr const char* kSizesOfDpx = "the raster and the layout give the size of a DPX frame";

struct Raster {
    std::string name;
    std::string title;
    int width = 0;
    int height = 0;
};

void read_raster(JsonObject& object, int& width, int& height) {
    const auto columns = object.integer("width", 1, kRasterMax);
    const auto lines = object.integer("height", 1, kRasterMax);
    if (!columns || !lines) return;
    width = static_cast<int>(*columns);
    height = static_cast<int>(*lines);
}

/// "title", which is printed: without anything that moves a terminal's cursor.
std::string read_title(JsonObject& object) {
    const auto title = object.string("title");
    if (!title) return "";
    const bool plain = std::none_of(title->begin(), title->end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) == 0x7f;
    });
    if (!plain) object.problem("title", "expected one line without control characters");
    return *title;
}

/// Puts `format` into an entry at each of its rates. Gives the first thing that is wrong with its sizes.
std::optional<std::string> expand_rates(const MediaFormat& format, const MeanBytes& mean, FormatEntry& entry) {
    for (const FrameRate& rate : format.rates) {
        MediaFormat at = format;
        at.rate = rate;
        if (!(rate == format.rates.front())) {
            at.name += "@" + rate_label(rate);
            at.title += ", " + rate_label(rate) + " fps";
        }
        if (auto wrong = set_sizes(at, mean)) return wrong;
        entry.at_rates.push_back(std::move(at));
    }
    return std::nullopt;
}

/// Why prepare cannot make a format whose document does not say that it cannot.
std::optional<Unmakable> never_made(const MediaFormat& format) {
    if (!format.not_prepared.empty()) return std::nullopt;
    auto never = unmakable(format);
    if (never) never->why += "; a format that is only played says why in not_prepared";
    return never;
}

class FormatReader {
public:
    FormatReader(const Json& document, JsonProblems& problems)
        : problems_(problems), top_(document, "", problems) {}

    FormatDocument read() {
        check_schema(top_, kFormatSchema, kVersion);
        format_.name = read_format_name(top_).value_or("");
        format_.title = read_title(top_);
        read_raster_member();
        read_rate_or_rates();
        const auto codec = read_codec(top_, format_);
        // The members of a document with an unknown codec tell which kind of codec is meant.
        const auto is_like = [&](const char* name) { return codec ? codec == name : top_.has(name); };
        std::string sizes_at = "/raster";
        if (is_like("dpx")) read_dpx_layout(top_, problems_, format_);
        if (is_like("prores")) sizes_at = read_prores();
        if (codec ? codec != "dpx" && codec != "prores" : top_.has("frame_sizes")) {
            read_profile(top_, format_);
            sizes_at = read_sizes(top_);
        } else if (!codec) {
            top_.member("profile", false);
        }
        format_.not_prepared = top_.string("not_prepared", false).value_or("");
        read_sources(top_, problems_, true, format_.sources);
        top_.finish();
        FormatDocument document{.name = format_.name, .title = format_.title};
        if (!format_.rates.empty() && format_.width > 0 && codec && can_size_) {
            document.entries.emplace_back();
            const auto wrong = expand_rates(format_, mean_, document.entries.back());
            if (wrong) problems_.add(sizes_at, *wrong);
            if (const auto never = never_made(format_)) problems_.add(never->member, never->why);
        }
        return document;
    }

private:
    void read_raster_member() {
        const Json* member = top_.member("raster");
        if (member == nullptr) return;
        JsonObject object(*member, "/raster", problems_);
        read_raster(object, format_.width, format_.height);
        object.finish();
    }

    void read_rate_or_rates() {
        if (top_.has("rates")) {
            format_.rates = read_rates(top_, problems_, true);
            if (top_.has("rate")) top_.problem("rate", "expected either rate or rates");
            top_.member("rate", false);
        } else if (const auto rate = top_.rate("rate")) {
            format_.rates = {*rate};
        }
    }

    std::string read_prores() {
        const Json* member = top_.member("prores");
        if (member == nullptr) {
            can_size_ = false;
            return "/prores";
        }
        JsonObject prores(*member, "/prores", problems_);
        const auto fourcc = prores.one_of("fourcc", {"apco", "apcs", "apcn", "apch", "ap4h", "ap4x"});
        if (fourcc) format_.profile = *fourcc;
        std::string at = read_sizes(prores);
        prores.finish();
        return at;
    }

    /// Gives the pointer of what says how large the frames are.
    std::string read_sizes(JsonObject& parent) {
        const Json* member = parent.member("frame_sizes");
        std::string pointer = parent.pointer_of("frame_sizes");
        can_size_ = member != nullptr && member->is_object();
        if (member == nullptr) return pointer;
        JsonObject sizes(*member, pointer, problems_);
        read_size_model(sizes, problems_, format_.size);
        std::string at = sizes.pointer_of("bytes");
        if (format_.size.kind != FrameSizeModel::Kind::table) {
            at = sizes.pointer_of(read_mean(sizes, problems_, mean_));
            can_size_ = mean_.stated();
        }
        sizes.finish();
        return at;
    }

    JsonProblems& problems_;
    JsonObject top_;
    MediaFormat format_;
    MeanBytes mean_;
    bool can_size_ = true;
};

/// Reads a family: what its entries share, the rasters, and the variants, each a row of the table.
class FamilyReader {
public:
    FamilyReader(const Json& document, JsonProblems& problems)
        : problems_(problems), top_(document, "", problems) {}

    FormatDocument read() {
        check_schema(top_, kFamilySchema, kVersion);
        document_.family = true;
        document_.name = read_format_name(top_).value_or("");
        document_.title = read_title(top_);
        read_codec(top_, shared_);
        shared_.rates = read_rates(top_, problems_, true);
        read_rasters();
        if (const Json* sizes = top_.member("frame_sizes", false); sizes != nullptr) {
            read_model(*sizes, "/frame_sizes", shared_.size);
            if (shared_.codec == "dpx") top_.problem("frame_sizes", kSizesOfDpx);
        }
        shared_.not_prepared = top_.string("not_prepared", false).value_or("");
        read_sources(top_, problems_, true, shared_.sources);
        const Json* variants = top_.member("variants");
        if (variants != nullptr && (!variants->is_array() || variants->empty())) {
            top_.problem("variants", "expected a list: one row of the table each");
        } else if (variants != nullptr) {
            for (std::size_t i = 0; i < variants->size(); ++i) {
                read_variant((*variants)[i], fmt::format("/variants/{}", i));
            }
        }
        top_.finish();
        return std::move(document_);
    }

private:
    void read_rasters() {
        const Json* list = top_.member("rasters");
        if (list == nullptr) return;
        if (!list->is_array() || list->empty()) {
            top_.problem("rasters", "expected a list of {\"name\", \"title\", \"width\", \"height\"}");
            return;
        }
        for (std::size_t i = 0; i < list->size(); ++i) {
            JsonObject object((*list)[i], fmt::format("/rasters/{}", i), problems_);
            Raster raster{.name = read_format_name(object).value_or("")};
            raster.title = read_title(object);
            read_raster(object, raster.width, raster.height);
            object.finish();
            rasters_.push_back(std::move(raster));
        }
    }

    void read_model(const Json& value, const std::string& pointer, FrameSizeModel& model) {
        JsonObject sizes(value, pointer, problems_);
        model = {};
        read_size_model(sizes, problems_, model);
        sizes.finish();
    }

    void read_variant(const Json& value, const std::string& pointer) {
        JsonObject variant(value, pointer, problems_);
        MediaFormat format = shared_;
        format.name = read_format_name(variant).value_or("");
        format.title = read_title(variant);
        if (variant.has("rates")) format.rates = read_rates(variant, problems_, true);
        if (format.codec == "dpx" || (format.codec.empty() && variant.has("dpx"))) {
            read_dpx_layout(variant, problems_, format);
            add_row(variant, format, {}, "dpx");
            if (variant.has("frame_sizes")) variant.problem("frame_sizes", kSizesOfDpx);
            variant.member("frame_sizes", false);
        } else {
            read_profile(variant, format);
            if (const Json* sizes = variant.member("frame_sizes", false); sizes != nullptr) {
                read_model(*sizes, variant.pointer_of("frame_sizes"), format.size);
            }
            if (format.size.kind == FrameSizeModel::Kind::table) {
                for (const char* key : {"bytes", "mean_bits_per_s"}) {
                    if (variant.has(key)) variant.problem(key, "its frame_sizes are a table of sizes already");
                    variant.member(key, false);
                }
                add_row(variant, format, {}, "frame_sizes");
            } else {
                read_row(variant, format);
            }
        }
        variant.finish();
    }

    /// The sizes of one variant: a bit rate, or a row of the table.
    void read_row(JsonObject& variant, MediaFormat& format) {
        if (variant.has("mean_bits_per_s")) {
            MeanBytes mean;
            mean.bits_per_s = variant.number("mean_bits_per_s", 1, 1e12);
            if (variant.has("bytes")) variant.problem("bytes", "expected either bytes or mean_bits_per_s");
            variant.member("bytes", false);
            if (mean.stated()) add_row(variant, format, mean, "mean_bits_per_s");
            return;
        }
        const Json* row = variant.member("bytes");
        if (row == nullptr) return;
        if (!row->is_array() || row->size() != rasters_.size()) {
            variant.problem("bytes",
                            fmt::format("expected a list of {} sizes in bytes, one for each raster (null: "
                                        "the variant does not have it)",
                                        rasters_.size()));
            return;
        }
        add_row(variant, format, {}, "bytes", row);
    }

    MeanBytes read_cell(const Json& cell, const std::string& pointer) {
        MeanBytes mean;
        if (cell.is_array()) {
            read_bytes_by_rate(cell, pointer, problems_, mean);
        } else if (cell.is_number_unsigned() && cell.get<std::uint64_t>() > 0 &&
                   cell.get<std::uint64_t>() <= UINT32_MAX) {
            mean.bytes = cell.get<double>();
        } else {
            problems_.add(pointer, fmt::format("expected bytes a frame from 1 to {}, or a list of {{\"rates\", "
                                               "\"bytes\"}}, found {}",
                                               UINT32_MAX, json_text(cell)));
        }
        return mean;
    }

    /// One entry for each raster. `key` is what gives the sizes: a row with a cell for each raster, or `same`
    /// (or the layout) for all of them.
    void add_row(JsonObject& variant,
                 MediaFormat format,
                 const MeanBytes& same,
                 const char* key,
                 const Json* row = nullptr) {
        format.not_prepared = variant.string("not_prepared", false).value_or(format.not_prepared);
        read_sources(variant, problems_, false, format.sources);
        for (std::size_t i = 0; i < rasters_.size(); ++i) {
            const Raster& raster = rasters_[i];
            if (row != nullptr && (*row)[i].is_null()) continue;
            std::string pointer = variant.pointer_of(key);
            if (row != nullptr) pointer += fmt::format("/{}", i);
            const MeanBytes mean = row == nullptr ? same : read_cell((*row)[i], pointer);
            if ((row != nullptr && !mean.stated()) || raster.width == 0 || format.rates.empty()) continue;
            MediaFormat one = format;
            one.name = format.name + "-" + raster.name;
            one.title = format.title + ", " + raster.title;
            one.width = raster.width;
            one.height = raster.height;
            if (!names_.insert(one.name).second) {
                problems_.add(pointer, fmt::format("\"{}\" is the name of another entry", one.name));
            }
            FormatEntry entry;
            const auto wrong = expand_rates(one, mean, entry);
            if (wrong) problems_.add(pointer, fmt::format("{}: {}", one.name, *wrong));
            const auto never = format.codec.empty() ? std::nullopt : never_made(one);
            if (never) {
                const std::string member = never->member;
                const bool own = member == "/profile" || (variant.has("frame_sizes") && member != "/codec");
                problems_.add(member == "/raster" ? fmt::format("/rasters/{}", i)
                                                  : (own ? variant.pointer() : "") + member,
                              fmt::format("{}: {}", one.name, never->why));
            }
            if (!wrong && !never) document_.entries.push_back(std::move(entry));
        }
    }

    JsonProblems& problems_;
    JsonObject top_;
    FormatDocument document_;
    MediaFormat shared_;
    std::vector<Raster> rasters_;
    std::set<std::string> names_;
};

}  // namespace

const MediaFormat* FormatEntry::at(FrameRate rate) const {
    const auto found = std::find_if(at_rates.begin(), at_rates.end(), [rate](const MediaFormat& format) {
        return format.rate.num * rate.den == rate.num * format.rate.den;
    });
    return found == at_rates.end() ? nullptr : &*found;
}

Result<FormatDocument> read_format_document(std::string_view text, const std::string& source) {
    const auto json = parse_json(text, source);
    if (!json) return json.error();
    JsonProblems problems(source);
    const bool family = json->is_object() && json->contains("schema") && (*json)["schema"] == kFamilySchema;
    FormatDocument document =
        family ? FamilyReader(*json, problems).read() : FormatReader(*json, problems).read();
    if (problems.empty() && document.entries.empty()) problems.add("", "this family has no entries");
    if (!problems.empty()) return problems.error();
    return document;
}

}  // namespace streamsim::media
