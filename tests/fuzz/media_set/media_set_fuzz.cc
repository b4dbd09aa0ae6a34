// The documents and names that streamsim keeps beside media: markers, records, checksums, leases, working sets.
// The input is the text of a file, which is read as each of them.
#include <string>

#include "fuzz/fuzz.h"
#include "fuzz/memory_store.h"
#include "media/own_files/checked_removal.h"
#include "media/own_files/document_file.h"
#include "media/own_files/own_names.h"
#include "media/write/clip_record.h"
#include "media/write/load_record.h"
#include "media/write/media_lease.h"
#include "media/write/media_lock.h"
#include "media/write/media_set_names.h"
#include "media/write/recording.h"

namespace streamsim::fuzz {
namespace {

constexpr std::uint64_t kSet = 0x0123456789abcdef;

void check_names(std::string_view name) {
    if (const auto clip = media::clip_name_in(name))
        require(clip->text() == name, "a clip's name is equal: " + std::string(name));
    if (const auto frames = media::length_in(name))
        require(media::length_name(*frames) == name, "a length's name is equal");
    if (const auto number = media::record_number_in(name))
        require(*number > 0 || name.find("0000") != std::string_view::npos, "a record has a number");
    if (media::is_id(name)) require(media::id_text(*media::parse_id(name)) == name, "an id is equal");
    (void)media::is_lease_name(name);
    (void)media::is_lock_name(name);
    (void)media::is_created_name(name);
    (void)media::is_recording(name);
    (void)media::is_run(name);
    std::string_view rest = name;
    (void)media::take_partial(rest);
    (void)media::take_removing(rest);
    require(name.starts_with(rest), "an ending is taken from the end");
    (void)media::is_half_removed(name, FileInfo{false, 1, 1, false});
}

void check_documents(Input input) {
    MemoryStore store;
    for (const char* path :
         {"set/streamsim-media.json", "set/load/0123456789abcdef.set.json", "clips/record-0001.json",
          "clips/whole-0001.json", "runs/streams.json", "format/format.json", "set/a.lock"})
        store.add(path, input);
    const auto marker = media::read_marker(store, "set");
    if (!marker) require(!marker.error().problems.empty(), "a refusal has a problem");
    const media::ClipKey key{"clips", kSet, 1};
    require(media::read_record(store, key).has_value(), "a record is read, or is none");
    require(media::read_sums(store, key).has_value(), "checksums are read, or are none");
    require(media::may_record(store, key).has_value(), "a name is free, ours or another's");
    const auto streams = media::read_recorded_streams(store, "runs", kSet);
    require(streams.has_value(), "a record of streams is read, or is none");
    const auto names = media::read_load_records(store, "set/load", kSet);
    require(names.has_value(), "records of working sets are read, or are none");
    (void)names->has_file("a/f1.load", FileInfo{false, 10, 1, false});
    (void)names->has_file("a/f18446744073709551615.load", FileInfo{false, 10, 1, false});
    (void)media::read_identity(store, "format");
    (void)media::is_document(store, "clips/record-0001.json");
    (void)media::is_lock_file(store, "set/a.lock");
    const media::LockOwner owner = media::LockOwner::parse(std::string(text_of(input)));
    const std::string note = owner.to_note();
    require(note.size() <= kLockNoteBytesMax && note.find('\n') == std::string::npos, "a note is a short line");
    (void)media::LockOwner::parse(note);
}

}  // namespace
}  // namespace streamsim::fuzz

STREAMSIM_FUZZ(media_set) {
    using namespace streamsim;
    for (fuzz::Taker lines(input); !lines.empty();) fuzz::check_names(lines.line());
    fuzz::check_documents(input);
}
