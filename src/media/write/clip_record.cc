#include "media/write/clip_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>

#include "base/fnv1a.h"
#include "base/path.h"
#include "base/units.h"
#include "media/frames/frame_maker.h"
#include "media/own_files/checked_removal.h"
#include "media/own_files/document_file.h"
#include "media/own_files/own_names.h"

namespace streamsim::media {
namespace {

constexpr std::string_view kRecordSchema = "streamsim.clip-record";
constexpr std::string_view kSumsSchema = "streamsim.clip-whole";
constexpr int kVersion = 1;
constexpr std::size_t kEndBytes = 1024;  // bytes in the checksum of each end
/// Prepared frames are random bytes, which no storage turns into holes. A storage that detects zeroes may make
/// holes of a container's padding.
constexpr std::uint64_t kHolesAllowed = 64 << 10;

std::uint64_t number_of(const Json& document, const char* member) {
    const Json value = document.value(member, Json());
    return value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
}
std::optional<std::string> text_of(const Json& document, const char* member) {
    const Json value = document.value(member, Json());
    if (!value.is_string()) return std::nullopt;
    return value.get<std::string>();
}

std::optional<std::uint64_t> id_of(const Json& document, const char* member) {
    const auto text = text_of(document, member);
    return text ? parse_id(*text) : std::nullopt;
}

bool is_of(const Json& document, std::uint64_t set, std::uint32_t number) {
    return id_of(document, "set") == set && number_of(document, "clip") == number;
}

/// True when the name is free or belongs to a record of this clip.
Result<bool> may_replace(ByteStore& store,
                         const std::string& path,
                         std::string_view schema,
                         std::uint64_t set,
                         std::uint32_t number) {
    const auto info = store.stat(path);
    if (!info) return info.error();
    if (!*info) return true;
    const auto document = read_own_document(store, path, schema);
    if (!document) return document.error();
    return document->has_value() && is_of(**document, set, number);
}

Error foreign(const std::string& path) {
    return environment_error(
        fmt::format("{}: found something else, expected a record that streamsim made: it is left alone", path));
}

Result<void> make_way(ByteStore& store,
                      const std::string& path,
                      std::string_view schema,
                      std::uint64_t set,
                      std::uint32_t number) {
    const auto may = may_replace(store, path, schema, set, number);
    if (!may) return may.error();
    if (!*may) return foreign(path);
    const auto info = store.stat(path);
    if (!info) return info.error();
    if (!*info) return {};
    const auto removed = remove_seen(store, path, **info, [&](const std::string& at) {
        const auto document = read_own_document(store, at, schema);
        return document && *document && is_of(**document, set, number);
    });
    if (!removed) return removed.error();
    return *removed ? Result<void>{} : foreign(path);
}

Result<std::uint64_t> sum_at(ByteSource& file, std::uint64_t offset) {
    std::vector<std::byte> bytes(kEndBytes);
    const auto got = file.read_at(offset, bytes);
    if (!got) return got.error();
    return fnv1a(std::span(bytes).first(*got));
}

std::uint64_t tail_offset(std::uint64_t bytes) {
    return bytes > kEndBytes ? bytes - kEndBytes : 0;
}

std::string show_holes(std::uint64_t holes, std::uint64_t bytes) {
    return fmt::format("{} of its {} were never written (holes)", show_bytes(holes), show_bytes(bytes));
}

}  // namespace

std::string record_name(std::uint32_t number) {
    return fmt::format("record-{:04}.json", number);
}

std::string sums_name(std::uint32_t number) {
    return fmt::format("whole-{:04}.json", number);
}

std::optional<std::uint32_t> record_number_in(std::string_view name) {
    const std::size_t dash = name.find('-');
    if (dash == std::string_view::npos) return std::nullopt;
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(name.data() + dash + 1, name.data() + name.size(), number);
    if (error != std::errc() || (name != record_name(number) && name != sums_name(number))) return std::nullopt;
    return number;
}

std::string record_kind(const MediaFormat& format) {
    return std::string(format.container == MediaFormat::Container::sequence
                           ? frame_extension(format)
                           : container_extension(format.container));
}

Result<std::optional<ClipRecord>> read_record(ByteStore& store,
                                              const std::string& directory,
                                              std::uint64_t set,
                                              std::uint32_t number) {
    const std::string path = join_path(directory, record_name(number));
    const auto document = read_own_document(store, path, kRecordSchema);
    if (!document) return document.error();
    if (!*document || !is_of(**document, set, number)) return std::optional<ClipRecord>();
    ClipRecord record;
    record.set = set;
    record.number = number;
    record.frames = number_of(**document, "frames");
    record.kind = text_of(**document, "kind").value_or("");
    record.file_id = number_of(**document, "file_id");
    record.self_id = number_of(**document, "self_id");
    const auto info = store.stat(path);
    if (!info) return info.error();
    // The whole set is a copy, whose records hold the ids of the original.
    if (*info && (*info)->file_id != record.self_id) record.file_id = 0;
    return std::optional(record);
}

Result<std::optional<ClipSums>> read_sums(ByteStore& store,
                                          const std::string& directory,
                                          std::uint64_t set,
                                          std::uint32_t number) {
    const auto document = read_own_document(store, join_path(directory, sums_name(number)), kSumsSchema);
    if (!document) return document.error();
    if (!*document || !is_of(**document, set, number)) return std::optional<ClipSums>();
    const auto head = id_of(**document, "head");
    const auto tail = id_of(**document, "tail");
    if (!head || !tail) return std::optional<ClipSums>();
    return std::optional(ClipSums{.set = set,
                                  .number = number,
                                  .bytes = number_of(**document, "bytes"),
                                  .first_bytes = number_of(**document, "first_bytes"),
                                  .last_bytes = number_of(**document, "last_bytes"),
                                  .head = *head,
                                  .tail = *tail});
}

Result<void> write_record(ByteStore& store, const std::string& directory, const ClipRecord& record) {
    const std::string path = join_path(directory, record_name(record.number));
    if (auto free = make_way(store, path, kRecordSchema, record.set, record.number); !free) return free;
    return write_document(store, path, [&](std::uint64_t self_id) {
        return Json{{"schema", kRecordSchema},   {"version", kVersion},     {"set", id_text(record.set)},
                    {"clip", record.number},     {"frames", record.frames}, {"kind", record.kind},
                    {"file_id", record.file_id}, {"self_id", self_id}};
    });
}

Result<void> write_sums(ByteStore& store, const std::string& directory, const ClipSums& sums) {
    const std::string path = join_path(directory, sums_name(sums.number));
    if (auto free = make_way(store, path, kSumsSchema, sums.set, sums.number); !free) return free;
    return write_document(store, path, [&](std::uint64_t) {
        Json out = {{"schema", kSumsSchema}, {"version", kVersion},        {"set", id_text(sums.set)},
                    {"clip", sums.number},   {"head", id_text(sums.head)}, {"tail", id_text(sums.tail)}};
        if (sums.bytes > 0) {
            out["bytes"] = sums.bytes;
        } else {
            out["first_bytes"] = sums.first_bytes;
            out["last_bytes"] = sums.last_bytes;
        }
        return out;
    });
}

Result<bool> may_record(ByteStore& store,
                        const std::string& directory,
                        std::uint64_t set,
                        std::uint32_t number) {
    auto record = may_replace(store, join_path(directory, record_name(number)), kRecordSchema, set, number);
    if (!record || !*record) return record;
    return may_replace(store, join_path(directory, sums_name(number)), kSumsSchema, set, number);
}

Result<bool> is_record(ByteStore& store,
                       const std::string& directory,
                       std::uint64_t set,
                       const std::string& name) {
    const auto number = record_number_in(name);
    if (!number) return false;
    const bool is_sums = name == sums_name(*number);
    const auto document =
        read_own_document(store, join_path(directory, name), is_sums ? kSumsSchema : kRecordSchema);
    if (!document) return document.error();
    return document->has_value() && is_of(**document, set, *number);
}

bool is_recorded(const ClipRecord& record, const FileInfo& info) {
    return !info.symbolic_link && may_be_same_file(record.file_id, info.file_id);
}

Result<ClipSums> sums_of_container(ByteStore& store, const std::string& path) {
    auto file = store.open(path);
    if (!file) return file.error();
    const auto bytes = (*file)->size();
    if (!bytes) return bytes.error();
    const auto head = sum_at(**file, 0);
    if (!head) return head.error();
    const auto tail = sum_at(**file, tail_offset(*bytes));
    if (!tail) return tail.error();
    (void)store.evict(path);  // may fail where there is no page cache, without harm
    return ClipSums{.bytes = *bytes, .head = *head, .tail = *tail};
}

Result<ClipSums> sums_of_frames(ByteStore& store, const std::string& first, const std::string& last) {
    const auto of_first = sums_of_container(store, first);
    if (!of_first) return of_first.error();
    const auto of_last = sums_of_container(store, last);
    if (!of_last) return of_last.error();
    return ClipSums{.first_bytes = of_first->bytes,
                    .last_bytes = of_last->bytes,
                    .head = of_first->head,
                    .tail = of_last->tail};
}

Result<std::string> problem_of_container(ByteStore& store,
                                         const std::string& path,
                                         const std::optional<ClipSums>& sums) {
    auto file = store.open(path);
    if (!file) return file.error();
    const auto bytes = (*file)->size();
    if (!bytes) return bytes.error();
    if (sums && *bytes != sums->bytes)
        return fmt::format("it has {} bytes, its record says {}", *bytes, sums->bytes);
    const auto holes = (*file)->hole_bytes(0);
    if (!holes) return holes.error();
    if (*holes > kHolesAllowed) return show_holes(*holes, *bytes);
    if (!sums) return std::string();
    const auto head = sum_at(**file, 0);
    if (!head) return head.error();
    const auto tail = sum_at(**file, tail_offset(*bytes));
    if (!tail) return tail.error();
    if (*head != sums->head || *tail != sums->tail)
        return std::string("its bytes do not agree with its checksum");
    return std::string();
}

Result<std::string> problem_of_frames(ByteStore& store,
                                      const std::string& first,
                                      const std::string& last,
                                      const std::vector<std::string>& sampled,
                                      const std::optional<ClipSums>& sums) {
    for (const std::string& path : sampled) {
        auto file = store.open(path);
        if (!file) continue;  // the frame fails at its slot
        const auto bytes = (*file)->size();
        if (!bytes) return bytes.error();
        const auto holes = (*file)->hole_bytes(0);
        if (!holes) return holes.error();
        if (*holes > 0 && *holes > std::min(kHolesAllowed, *bytes / 2))
            return fmt::format("{}: {}", path, show_holes(*holes, *bytes));
        const bool is_first = sums && path == first && *bytes == sums->first_bytes;
        const bool is_last = sums && path == last && *bytes == sums->last_bytes;
        if (!is_first && !is_last) continue;
        const auto sum = sum_at(**file, is_first ? 0 : tail_offset(*bytes));
        if (!sum) return sum.error();
        if (*sum != (is_first ? sums->head : sums->tail))
            return fmt::format("{}: its bytes do not agree with its checksum", path);
    }
    return std::string();
}

}  // namespace streamsim::media
