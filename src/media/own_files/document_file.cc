#include "media/own_files/document_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "base/path.h"
#include "base/prng.h"
#include "media/own_files/checked_removal.h"
#include "media/own_files/own_names.h"

namespace streamsim::media {
namespace {

constexpr std::size_t kDocumentBytesMax = 1 << 20;
constexpr std::size_t kUsualDocumentBytes = 4096;
constexpr std::string_view kDocumentBegins = "{\n  \"";

/// The text of a regular file that may be a document by its size; nothing for any other.
Result<std::optional<std::string>> document_text(ByteStore& store, const std::string& path) {
    const auto info = store.stat(path);
    if (!info) return info.error();
    if (!*info || !(*info)->is_regular() || (*info)->bytes > kDocumentBytesMax)
        return std::optional<std::string>();
    if ((*info)->bytes == 0) return std::optional(std::string());
    auto text = read_text(store, path, (*info)->bytes);
    if (!text) return text.error();
    return std::optional(std::move(*text));
}

}  // namespace

Result<std::string> read_text(ByteStore& store, const std::string& path, std::optional<std::uint64_t> bytes) {
    const auto too_large = [&path] {
        return bad_input(fmt::format("{}: too large to be one of our documents", path));
    };
    if (bytes && *bytes > kDocumentBytesMax) return too_large();
    auto file = store.open(path);
    if (!file) return file.error();
    std::string text(bytes ? static_cast<std::size_t>(*bytes) : kUsualDocumentBytes, '\0');
    auto got = (*file)->read_at(0, std::as_writable_bytes(std::span(text)));
    if (got && !bytes && *got == text.size()) {
        text.resize(kDocumentBytesMax + 1);
        got = (*file)->read_at(0, std::as_writable_bytes(std::span(text)));
    }
    if (!got) return got.error();
    if (*got > kDocumentBytesMax) return too_large();
    if (bytes && *got < *bytes)
        return environment_error(
            fmt::format("{}: has {} bytes, and reading it ends at {}", path, *bytes, *got));
    text.resize(*got);
    return text;
}

Result<void> write_document(ByteStore& store,
                            const std::string& path,
                            std::string_view schema,
                            const std::function<Json(std::uint64_t file_id)>& make) {
    const std::string partial = path + partial_suffix(entropy64());
    auto file = store.create(partial);
    if (!file) return file.error();
    const auto write = [&]() -> Result<void> {
        const auto info = store.stat(partial);
        if (!info) return info.error();
        Json document = make(*info ? (*info)->file_id : 0);
        document["schema"] = schema;
        document["version"] = kDocumentVersion;
        const std::string text = json_text(document, 2) + "\n";
        if (auto done = (*file)->write_at(0, std::as_bytes(std::span(text))); !done) return done.error();
        if (auto done = (*file)->close(); !done) return done.error();
        return store.rename(partial, path);
    };
    auto written = write();
    if (!written) (void)store.remove(partial);
    return written;
}

Result<bool> is_unfinished(ByteStore& store, const std::string& path, const std::string& document_name) {
    const std::string file = base_name(path);
    std::string_view name = file;
    if ((!take_partial(name) && !take_removing(name)) || name != document_name) return false;
    const bool has_id = file.size() - name.size() > kPartial.size();
    return has_id ? is_torn_document(store, path) : is_document(store, path);
}

Result<bool> is_document(ByteStore& store, const std::string& path) {
    const auto read = document_text(store, path);
    if (!read) return read.error();
    const std::optional<std::string>& text = *read;
    if (!text || text->empty()) return text.has_value();
    return text->starts_with(kDocumentBegins) && text->find("\"streamsim.") != std::string::npos;
}

Result<bool> is_torn_document(ByteStore& store, const std::string& path) {
    const auto read = document_text(store, path);
    if (!read) return read.error();
    const std::optional<std::string>& text = *read;
    if (!text) return false;
    const std::size_t begin = std::min(text->size(), kDocumentBegins.size());
    const bool zeroes = text->find_first_not_of('\0') == std::string::npos;
    return zeroes || text->compare(0, begin, kDocumentBegins, 0, begin) == 0;
}

Result<std::optional<Json>> read_own_document(ByteStore& store,
                                              const std::string& path,
                                              std::string_view schema) {
    const auto info = store.stat(path);
    if (!info) return info.error();
    if (!*info || !(*info)->is_regular()) return std::optional<Json>();
    const auto text = read_text(store, path, (*info)->bytes);
    if (!text && text.error().kind == ErrorKind::bad_input) return std::optional<Json>();
    if (!text) return text.error();
    auto document = parse_json(*text, path);
    if (!document || !document->is_object() || document->value("schema", Json()) != schema ||
        document->value("version", Json()) != kDocumentVersion)
        return std::optional<Json>();
    return std::optional(std::move(*document));
}

}  // namespace streamsim::media
