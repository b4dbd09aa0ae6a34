#include "cli/commands.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "base/json.h"
#include "base/units.h"
#include "cli/formats_directory.h"
#include "media/catalogue.h"
#include "media/clip_index.h"
#include "media/inspect.h"
#include "media/media_set.h"

namespace streamsim {
namespace {

std::uint64_t whole(double value) {
    return static_cast<std::uint64_t>(std::llround(value));
}

const char* container_name(MediaFormat::Container container) {
    return container == MediaFormat::Container::sequence ? "a file a frame" : "QuickTime";
}

OrderedJson document_of(const MediaFormat& format) {
    return {{"name", format.name},
            {"title", format.title},
            {"container", format.container == MediaFormat::Container::sequence ? "sequence" : "quicktime"},
            {"codec", format.codec},
            {"width", format.width},
            {"height", format.height},
            {"rate", {format.rate.num, format.rate.den}},
            {"mean_frame_bytes", whole(format.mean_frame_bytes)},
            {"required_bytes_per_s", whole(format.bytes_per_s())},
            {"sources", format.sources}};
}

void print_formats_table(const std::vector<MediaFormat>& formats) {
    fmt::print("{:<12} {:<44} {:>9} {:>9} {:>9}  {}\n", "name", "what it is", "MB/frame", "MB/s", "Mb/s",
               "files");
    for (const MediaFormat& format : formats) {
        fmt::print("{:<12} {:<44} {:>9.3f} {:>9.1f} {:>9.0f}  {}\n", format.name, format.title,
                   format.mean_frame_bytes / 1e6, format.bytes_per_s() / 1e6, format.bytes_per_s() * 8 / 1e6,
                   container_name(format.container));
    }
}

void print_format(const MediaFormat& format) {
    fmt::print("{}: {}\n", format.name, format.title);
    fmt::print("  raster      {} x {}\n  rate        {} fps\n  files       {}\n", format.width, format.height,
               format.rate.to_string(), container_name(format.container));
    fmt::print("  a frame     {} bytes{}\n", show_count(whole(format.mean_frame_bytes)),
               format.size.kind == FrameSizeModel::Kind::constant ? "" : " on average");
    fmt::print("  needs       {:.1f} MB/s, {:.0f} Mb/s a stream\n  sources\n", format.bytes_per_s() / 1e6,
               format.bytes_per_s() * 8 / 1e6);
    for (const std::string& source : format.sources) fmt::print("    - {}\n", source);
}

Result<MediaFormat> named_format(const Catalogue& catalogue, const std::string& name) {
    if (const MediaFormat* known = catalogue.find(name); known != nullptr) return *known;
    std::ifstream in(name, std::ios::binary);
    if (!in) {
        return bad_input(
            fmt::format("'{}' is neither a known format (see `streamsim formats`) nor a file that can be "
                        "read",
                        name));
    }
    std::ostringstream text;
    text << in.rdbuf();
    return read_format(text.str(), name);
}

OrderedJson document_of(const Clip& clip, const InspectFacts& facts, bool frames) {
    OrderedJson document = {{"schema", "streamsim.inspect"},
                            {"version", 1},
                            {"clip", clip.name},
                            {"format", clip.format},
                            {"frames", facts.frames},
                            {"rate", {facts.rate.num, facts.rate.den}},
                            {"duration_ns", facts.duration.ns},
                            {"timecode", facts.timecode},
                            {"bytes", facts.bytes_total},
                            {"frame_bytes",
                             {{"min", facts.frame_bytes_min},
                              {"mean", facts.frame_bytes_mean},
                              {"p99", facts.frame_bytes_p99},
                              {"max", facts.frame_bytes_max}}},
                            {"required_bytes_per_s", facts.bytes_per_s},
                            {"layout", facts.layout},
                            {"notes", facts.notes}};
    if (!frames) return document;
    OrderedJson& list = document["extents"] = OrderedJson::array();
    std::string path(clip.index->path_capacity(), '\0');
    for (std::uint64_t i = 0; i < clip.index->count(); ++i) {
        const Extent extent = clip.index->extent(i);
        clip.index->write_path(i, path.data());
        list.push_back({{"frame", i},
                        {"number", clip.index->frame_number(i)},
                        {"file", path.c_str()},
                        {"offset", extent.offset},
                        {"bytes", extent.bytes}});
    }
    return document;
}

void print_clip(const Clip& clip, const InspectFacts& facts, bool frames) {
    fmt::print("{}: {}\n", clip.name, clip.format);
    fmt::print("  frames      {} at {} fps, {} ({})\n", show_count(facts.frames), facts.rate.to_string(),
               facts.timecode, show_duration(facts.duration));
    fmt::print("  a frame     min {}, mean {}, p99 {}, max {} bytes\n", show_count(facts.frame_bytes_min),
               show_count(whole(facts.frame_bytes_mean)), show_count(facts.frame_bytes_p99),
               show_count(facts.frame_bytes_max));
    fmt::print("  needs       {:.1f} MB/s, {:.0f} Mb/s\n", facts.bytes_per_s / 1e6,
               facts.bytes_per_s * 8 / 1e6);
    fmt::print("  layout      {}\n  first file  {}\n  last file   {}\n", facts.layout, facts.first_path,
               facts.last_path);
    for (const std::string& note : facts.notes) fmt::print("  note        {}\n", note);
    if (!frames) return;
    std::string path(clip.index->path_capacity(), '\0');
    fmt::print("{:>8} {:>10} {:>14} {:>12}  {}\n", "frame", "number", "offset", "bytes", "file");
    for (std::uint64_t i = 0; i < clip.index->count(); ++i) {
        const Extent extent = clip.index->extent(i);
        clip.index->write_path(i, path.data());
        fmt::print("{:>8} {:>10} {:>14} {:>12}  {}\n", i, clip.index->frame_number(i), extent.offset,
                   extent.bytes, path.c_str());
    }
}

}  // namespace

int report_error(CliContext& context, const Error& error) {
    for (const std::string& problem : error.problems) context.log.error("{}", problem);
    switch (error.kind) {
        case ErrorKind::bad_input: return kExitBadInput;
        case ErrorKind::environment: return kExitCannotRun;
        case ErrorKind::interrupted: return kExitInterrupted;
    }
    return kExitCannotRun;
}

Result<void> write_document(const std::string& path, std::string_view begins_with, const std::string& text) {
    auto file = OutputFile::prepare(path, begins_with);
    if (!file) return file.error();
    file->write(text);
    return file->finish();
}

int formats_command(CliContext& context, const CliOptions& options) {
    const auto directory = formats_directory();
    if (!directory) return report_error(context, directory.error());
    const auto catalogue = Catalogue::load(*directory + "/media");
    if (!catalogue) return report_error(context, catalogue.error());
    std::vector<MediaFormat> shown = catalogue->formats();
    if (!options.name.empty()) {
        auto format = named_format(*catalogue, options.name);
        if (!format) return report_error(context, format.error());
        shown.assign(1, *format);
    }
    if (!options.json.empty()) {
        OrderedJson document = {{"schema", "streamsim.formats"}, {"version", 1}};
        OrderedJson& list = document["formats"] = OrderedJson::array();
        for (const MediaFormat& format : shown) list.push_back(document_of(format));
        const auto written =
            write_document(options.json, "{\n  \"schema\": \"streamsim.formats\"", document.dump(2) + "\n");
        return written ? kExitPass : report_error(context, written.error());
    }
    if (options.name.empty()) {
        print_formats_table(shown);
    } else {
        print_format(shown.front());
    }
    return kExitPass;
}

int inspect_command(CliContext& context, const CliOptions& options) {
    const auto store = make_byte_store(options.play.target);
    if (store == nullptr) return report_error(context, bad_input("inspect needs files: expected a path"));
    const std::string& path = options.play.target.path;
    const auto info = store->stat(path);
    if (!info) return report_error(context, info.error());
    if (!info->has_value() && !is_pattern(path)) {
        return report_error(context,
                            environment_error(fmt::format("{}: there is no such file or directory", path)));
    }
    const auto clip = index_clip(*store, path);
    if (!clip) return report_error(context, clip.error());
    const InspectFacts facts = inspect(*clip);
    if (options.json.empty()) {
        print_clip(*clip, facts, options.frames);
        return kExitPass;
    }
    const auto written = write_document(options.json, "{\n  \"schema\": \"streamsim.inspect\"",
                                        document_of(*clip, facts, options.frames).dump(2) + "\n");
    return written ? kExitPass : report_error(context, written.error());
}

int clean_command(CliContext& context, const CliOptions& options) {
    const auto store = make_byte_store(options.play.target);
    if (store == nullptr) return report_error(context, bad_input("clean needs a directory: expected a path"));
    const auto cleaned = clean(*store, options.play.target.path);
    if (!cleaned) return report_error(context, cleaned.error());
    for (const std::string& kept : cleaned->kept) context.log.warn("{}: not made by prepare, kept", kept);
    if (!options.quiet) {
        fmt::print("removed {} files, {}, from {}/{}\n", show_count(cleaned->files_removed),
                   show_bytes(cleaned->bytes_removed), options.play.target.path, kMediaDirectory);
    }
    return kExitPass;
}

}  // namespace streamsim
