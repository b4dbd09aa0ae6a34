#include "media/write/clip_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/ascii.h"
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
constexpr std::size_t kEndBytes = 1024;  // bytes in the checksum of each end
/// Prepared frames are random bytes, which no storage turns into holes. A storage that detects zeroes may make
/// holes of a container's padding.
constexpr std::uint64_t kHolesAllowed = 64 << 10;

std::uint64_t number_member(const Json& document, const char* member) {
    const Json value = document.value(member, Json());
    return value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
}
std::optional<std::string> text_member(const Json& document, const char* member) {
    const Json value = document.value(member, Json());
    if (!value.is_string()) return std::nullopt;
    return value.get<std::string>();
}

std::optional<std::uint64_t> id_of(const Json& document, const char* member) {
    const auto text = text_member(document, member);
    return text ? parse_id(*text) : std::nullopt;
}

std::string path_of(const ClipKey& clip, std::string_view schema) {
    return join_path(clip.directory,
                     schema == kRecordSchema ? record_name(clip.number) : sums_name(clip.number));
}

/// The document of the clip at this path; nothing where it is another's.
Result<std::optional<Json>> document_at(ByteStore& store,
                                        const std::string& path,
                                        std::string_view schema,
                                        const ClipKey& clip) {
    auto document = read_own_document(store, path, schema);
    const bool found = document && *document;
    if (found && (id_of(**document, "set") != clip.set || number_member(**document, "clip") != clip.number))
        document->reset();
    return document;
}

/// True when the name is free or belongs to a record of this clip.
Result<bool> may_replace(ByteStore& store, std::string_view schema, const ClipKey& clip) {
    const std::string path = path_of(clip, schema);
    const auto info = store.stat(path);
    if (!info) return info.error();
    if (!*info) return true;
    const auto document = document_at(store, path, schema, clip);
    if (!document) return document.error();
    return document->has_value();
}

Result<void> make_way_for(ByteStore& store, std::string_view schema, const ClipKey& clip) {
    const std::string path = path_of(clip, schema);
    const auto may = may_replace(store, schema, clip);
    if (!may) return may.error();
    const Error foreign = environment_error(
        fmt::format("{}: found something else, expected a record that streamsim made: it is left alone", path));
    if (!*may) return foreign;
    return make_way(store, path, foreign, [&](const std::string& at) -> Result<bool> {
        const auto document = document_at(store, at, schema, clip);
        if (!document) return document.error();
        return document->has_value();
    });
}

Result<std::uint64_t> sum_at(ByteSource& file, std::uint64_t offset) {
    std::vector<std::byte> bytes(kEndBytes);
    const auto got = file.read_at(offset, bytes);
    if (!got) return got.error();
    return fnv1a(std::span(bytes).first(*got));
}

/// An end of a file of `bytes` bytes. Errors: environment, also where less can be read than the file has.
Result<std::vector<std::byte>> read_end(ByteSource& file,
                                        const std::string& path,
                                        std::uint64_t bytes,
                                        std::uint64_t offset) {
    std::vector<std::byte> end(std::min<std::uint64_t>(kEndBytes, bytes - offset));
    const auto got = file.read_at(offset, end);
    if (!got) return got.error();
    if (*got < end.size()) {
        return environment_error(
            fmt::format("{}: it has {} bytes, and reading it ends at {}", path, bytes, offset + *got));
    }
    return end;
}

Result<std::uint64_t> sum_of_end(ByteSource& file,
                                 const std::string& path,
                                 std::uint64_t bytes,
                                 std::uint64_t offset) {
    const auto end = read_end(file, path, bytes, offset);
    if (!end) return end.error();
    return fnv1a(std::span<const std::byte>(*end));
}

/// True for what is left of a container of prepare, cut within its first bytes: QuickTime and MP4 begin with a
/// small box "ftyp", MXF with a key of SMPTE.
bool begins_as_container(std::span<const std::byte> head) {
    const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
    const auto has = [text](std::size_t at, std::string_view wanted) {
        const std::string_view found = text.substr(std::min(at, text.size()), wanted.size());
        return wanted.starts_with(found);
    };
    return has(0, "\x06\x0e\x2b\x34") || (has(0, std::string_view("\0\0\0", 3)) && has(4, "ftyp"));
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
    const auto number = whole_number<std::uint32_t>(name.substr(dash + 1, name.find('.') - dash - 1));
    if (!number || (name != record_name(*number) && name != sums_name(*number))) return std::nullopt;
    return number;
}

std::string record_kind(const MediaFormat& format) {
    return std::string(format.container == MediaFormat::Container::sequence
                           ? frame_extension(format)
                           : container_extension(format.container));
}

ClipKey key_of(const StoredClip& clip, std::uint64_t set) {
    return {parent_of(clip.path), set, clip.name.number};
}

Result<std::optional<ClipRecord>> read_record(ByteStore& store, const ClipKey& clip) {
    const std::string path = path_of(clip, kRecordSchema);
    const auto document = document_at(store, path, kRecordSchema, clip);
    if (!document) return document.error();
    if (!*document) return std::optional<ClipRecord>();
    ClipRecord record;
    record.frames = number_member(**document, "frames");
    record.kind = text_member(**document, "kind").value_or("");
    record.file_id = number_member(**document, "file_id");
    record.self_id = number_member(**document, "self_id");
    const auto info = store.stat(path);
    if (!info) return info.error();
    // The whole set is a copy, whose records hold the ids of the original.
    if (*info && (*info)->file_id != record.self_id) record.file_id = 0;
    return std::optional(record);
}

Result<std::optional<ClipSums>> read_sums(ByteStore& store, const ClipKey& clip) {
    const auto document = document_at(store, path_of(clip, kSumsSchema), kSumsSchema, clip);
    if (!document) return document.error();
    if (!*document) return std::optional<ClipSums>();
    const auto head = id_of(**document, "head");
    const auto tail = id_of(**document, "tail");
    if (!head || !tail) return std::optional<ClipSums>();
    return std::optional(ClipSums{.bytes = number_member(**document, "bytes"),
                                  .first_bytes = number_member(**document, "first_bytes"),
                                  .last_bytes = number_member(**document, "last_bytes"),
                                  .head = *head,
                                  .tail = *tail});
}

Result<void> write_record(ByteStore& store, const ClipKey& clip, const ClipRecord& record) {
    if (auto free = make_way_for(store, kRecordSchema, clip); !free) return free;
    return write_document(store, path_of(clip, kRecordSchema), kRecordSchema, [&](std::uint64_t self_id) {
        return Json{{"set", id_text(clip.set)}, {"clip", clip.number},       {"frames", record.frames},
                    {"kind", record.kind},      {"file_id", record.file_id}, {"self_id", self_id}};
    });
}

Result<void> write_sums(ByteStore& store, const ClipKey& clip, const ClipSums& sums) {
    if (auto free = make_way_for(store, kSumsSchema, clip); !free) return free;
    return write_document(store, path_of(clip, kSumsSchema), kSumsSchema, [&](std::uint64_t) {
        Json out = {{"set", id_text(clip.set)},
                    {"clip", clip.number},
                    {"head", id_text(sums.head)},
                    {"tail", id_text(sums.tail)}};
        if (sums.bytes > 0) {
            out["bytes"] = sums.bytes;
        } else {
            out["first_bytes"] = sums.first_bytes;
            out["last_bytes"] = sums.last_bytes;
        }
        return out;
    });
}

Result<bool> may_record(ByteStore& store, const ClipKey& clip) {
    auto record = may_replace(store, kRecordSchema, clip);
    return record && *record ? may_replace(store, kSumsSchema, clip) : record;
}

Result<bool> is_record(ByteStore& store,
                       const std::string& directory,
                       std::uint64_t set,
                       const std::string& name) {
    const auto number = record_number_in(name);
    if (!number) return false;
    const auto schema = name == sums_name(*number) ? kSumsSchema : kRecordSchema;
    const auto document = document_at(store, join_path(directory, name), schema, {directory, set, *number});
    if (!document) return document.error();
    return document->has_value();
}

bool is_recorded(const ClipRecord& record, const FileInfo& info) {
    return !info.symbolic_link && may_be_same_file(record.file_id, info.file_id);
}

Result<ClipSums> sums_of_container(ByteStore& store, const std::string& path) {
    auto file = store.open(path);
    if (!file) return file.error();
    const auto bytes = (*file)->size();
    if (!bytes) return bytes.error();
    const auto head = sum_of_end(**file, path, *bytes, 0);
    if (!head) return head.error();
    const auto tail = sum_of_end(**file, path, *bytes, tail_offset(*bytes));
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

Result<bool> begins_as_recorded(ByteStore& store, const std::string& path, const ClipSums& sums) {
    auto file = store.open(path);
    if (!file) return file.error();
    const auto bytes = (*file)->size();
    if (!bytes) return bytes.error();
    const auto head = read_end(**file, path, *bytes, 0);
    if (!head) return head.error();
    const bool zeroes = std::all_of(head->begin(), head->end(), [](std::byte b) { return b == std::byte{0}; });
    if (zeroes || fnv1a(std::span<const std::byte>(*head)) == sums.head) return true;
    return *bytes < kEndBytes && *bytes < sums.bytes && begins_as_container(*head);
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
