#include "media/own_files/document_file.h"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "base/path.h"
#include "base/prng.h"
#include "media/own_files/checked_removal.h"
#include "media/own_files/own_names.h"

namespace streamsim::media {
namespace {

constexpr std::size_t kDocumentBytesMax = 1 << 20;

}  // namespace

Result<std::string> read_text(ByteStore& store, const std::string& path) {
    auto file = store.open(path);
    if (!file) return file.error();
    std::string text(kDocumentBytesMax + 1, '\0');
    const auto got = (*file)->read_at(0, std::as_writable_bytes(std::span(text)));
    if (!got) return got.error();
    if (*got > kDocumentBytesMax)
        return bad_input(fmt::format("{}: too large to be one of our documents", path));
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

bool is_unfinished(ByteStore& store, const std::string& path, const std::string& document_name) {
    const std::string file = base_name(path);
    std::string_view name = file;
    if ((!take_partial(name) && !take_removing(name)) || name != document_name) return false;
    return is_document(store, path);
}

bool is_document(ByteStore& store, const std::string& path) {
    const auto info = store.stat(path);
    if (!info || !*info || !(*info)->is_regular()) return false;
    if ((*info)->bytes == 0) return true;
    const auto text = read_text(store, path);
    return text && text->starts_with("{\n  \"") && text->find("\"streamsim.") != std::string::npos;
}

Result<std::optional<Json>> read_own_document(ByteStore& store,
                                              const std::string& path,
                                              std::string_view schema) {
    const auto info = store.stat(path);
    if (!info) return info.error();
    if (!*info || !(*info)->is_regular()) return std::optional<Json>();
    const auto text = read_text(store, path);
    if (!text && text.error().kind == ErrorKind::bad_input) return std::optional<Json>();
    if (!text) return text.error();
    auto document = parse_json(*text, path);
    if (!document || !document->is_object() || document->value("schema", Json()) != schema ||
        document->value("version", Json()) != kDocumentVersion)
        return std::optional<Json>();
    return std::optional(std::move(*document));
}

}  // namespace streamsim::media
