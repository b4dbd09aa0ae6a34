#include "cli/options/documents.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/document/document.h"
#include "base/system/utf8_path.h"
#include "cli/options/document_commands.h"
#include "media/cuts/cut_list.h"
#include "run/plan/meters.h"
#include "run/process/this_process.h"
#include "scenario/workload_steps.h"
#include "target/allowed_places.h"
#include "target/credentials.h"
#include "target/named_documents.h"

namespace streamsim::cli {
namespace {

constexpr const char* kDefaultFormat = "dpx12";

void add(std::vector<std::string>& problems, const Error& error, const char* option = nullptr) {
    for (const std::string& problem : error.problems)
        problems.push_back(option == nullptr ? problem : fmt::format("{}: {}", option, problem));
}

void open_formats(const media::Catalogue& catalogue, CliOptions& options, std::vector<std::string>& problems) {
    std::vector<MediaFormat>& formats = options.play.formats;
    for (const std::string& name : options.formats) {
        auto format = media::open_format(catalogue, name, target::named_files_are_read());
        if (format) {
            formats.push_back(std::move(format->format));
        } else {
            add(problems, format.error(), "--format");
        }
    }
    for (std::size_t i = 0; i < formats.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (formats[i].name != formats[j].name) continue;
            problems.push_back(
                fmt::format("--format: {} is given twice: give --streams instead", formats[i].name));
        }
    }
}

/// The default format, from its own document alone; nothing where that is not there or wrong.
std::optional<MediaFormat> default_format_in(const std::string& directory) {
    const std::string path = fmt::format("{}/{}.json", directory, kDefaultFormat);
    const auto text = read_document(path);
    if (!text) return std::nullopt;
    auto document = media::read_format_document(*text, path);
    if (!document || document->family || document->name != kDefaultFormat) return std::nullopt;
    return document->entries.front().own();
}

/// Reads the whole catalogue, which takes 3 ms, only where a format is named.
Result<void> find_formats(const std::string& directory,
                          CliOptions& options,
                          std::vector<std::string>& problems) {
    auto alone = options.formats.empty() ? default_format_in(directory) : std::nullopt;
    if (alone) {
        options.default_format = std::move(*alone);
        return {};
    }
    const auto catalogue = media::Catalogue::load(directory);
    if (!catalogue) return catalogue.error();
    const MediaFormat* const standard = catalogue->find(kDefaultFormat);
    if (standard == nullptr)
        return environment_error(fmt::format("{}: the format {} is missing", directory, kDefaultFormat));
    options.default_format = *standard;
    open_formats(*catalogue, options, problems);
    return {};
}

/// Reads the file that an option names with `read`, which says its problems with the file's name.
template <typename T>
void open_file(const char* option,
               const std::string& file,
               Result<T> (*read)(std::string_view text, const std::string& source),
               std::optional<T>& into,
               std::vector<std::string>& problems) {
    if (file.empty()) return;
    const auto text = read_document(file);
    if (!text) return add(problems, text.error(), option);
    auto document = read(*text, file);
    if (!document) return add(problems, document.error());
    into = std::move(*document);
}

/// Meters on all seats.
void open_meters(const std::string& formats, CliOptions& options, std::vector<std::string>& problems) {
    run::PlayRequest& play = options.play;
    for (const std::string& name : options.meters) {
        auto workload = target::open_workload(name, formats + "/workload");
        if (!workload) {
            add(problems, workload.error(), "--meter");
            continue;
        }
        for (std::string& text : target::without_effect(*workload)) play.remarks.push_back(std::move(text));
        add_commands_without_effect(*workload, play.remarks);
        for (run::MeterPart& part : run::meters_of(scenario::scaled(*workload, options.scale), 0, play.seats))
            play.meters.push_back(std::move(part));
    }
}

/// Recorders alone, where nobody asked for streams beside them; a search is for streams.
void complete_record(CliOptions& options) {
    run::PlayRequest& play = options.play;
    if (play.record.streams == 0) return;
    play.record.formats = play.formats;
    if (play.record.formats.empty()) play.record.formats.push_back(options.default_format);
    const bool search = options.command == Command::max;
    if (!search && !options.given("--streams") && !options.given("--total-streams")) play.streams = 0;
}

}  // namespace

Result<std::string> formats_directory() {
    std::vector<std::filesystem::path> places;
    std::error_code error;
    if (const char* named = std::getenv("STREAMSIM_FORMATS"); named != nullptr) {
        places.emplace_back(named);
    } else {
        const std::filesystem::path above = run::program_path().parent_path().parent_path();
        places.push_back(above / "share/streamsim/formats");
        // Python's installation for one user on Windows has its programs a folder deeper.
        places.push_back(above.parent_path() / "share/streamsim/formats");
        constexpr std::string_view kSource = STREAMSIM_SOURCE_FORMATS;
        if (!kSource.empty()) places.emplace_back(kSource);  // empty in packages
    }
    std::string looked;
    for (const auto& place : places) {
        if (std::filesystem::is_directory(place / "media", error)) return utf8_generic_text(place);
        looked += (looked.empty() ? "" : " or ") + utf8_generic_text(place);
    }
    return environment_error(fmt::format(
        "the media formats are not at {}: set STREAMSIM_FORMATS to the folder that holds media/", looked));
}

void open_target(CliOptions& options, std::vector<std::string>& problems) {
    if (options.target.empty()) return;
    // predict takes models alone, so that a name or a file is one.
    const bool bare = options.command == Command::predict && options.target.find(':') == std::string::npos;
    auto target = target::parse_target(bare ? "sim:" + options.target : options.target);
    if (!target) return add(problems, target.error());
    options.play.target = std::move(*target);
    auto credentials = target::find_credentials(options.play.target, options.credentials);
    if (!credentials) return add(problems, credentials.error(), "--credentials");
    options.play.credentials = std::move(*credentials);
}

Result<void> open_documents(CliOptions& options, std::vector<std::string>& problems) {
    run::PlayRequest& play = options.play;
    play.sync = play.sync || play.multicam == run::MultiCam::all;
    play.keep_frames = options.files.need_frames();
    play.find_capacity = options.verbosity > 0 || !options.files.html.empty();
    play.keep_histograms = !options.journal.empty();
    const auto directory = formats_directory();
    if (!directory) return directory.error();
    if (play.target.kind == target::Target::Kind::model) {
        auto opened = target::open_model(play.target, *directory + "/storage");
        if (!opened && opened.error().kind == ErrorKind::environment) return opened;
        if (!opened) add(problems, opened.error());
    }
    if (auto found = find_formats(*directory + "/media", options, problems); !found) return found;
    if (options.given("--cuts")) play.order.kind = play::PlayOrder::Kind::cuts;
    open_file("--cuts", options.cuts, media::parse_cut_list, play.cuts, problems);
    if (play.cuts) play.cuts->ignore_mismatch = options.ignore_mismatch;
    open_file("--faults", options.faults, storage::read_fault_plan, play.faults, problems);
    open_meters(*directory, options, problems);
    complete_record(options);
    return {};
}

}  // namespace streamsim::cli
