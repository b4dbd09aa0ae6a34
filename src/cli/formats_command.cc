#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "base/json.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/formats_directory.h"
#include "media/catalogue.h"

namespace streamsim {
namespace {

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
            {"mean_frame_bytes", nearest_whole(format.mean_frame_bytes)},
            {"required_bytes_per_s", nearest_whole(format.bytes_per_s())},
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
    fmt::print("  a frame     {} bytes{}\n", show_count(nearest_whole(format.mean_frame_bytes)),
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

}  // namespace

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

}  // namespace streamsim
