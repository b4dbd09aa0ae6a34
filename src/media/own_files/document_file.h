// The small JSON documents that streamsim writes beside media. Inside media/ only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/document/json.h"
#include "base/result.h"
#include "streamsim/byte_store.h"

namespace streamsim::media {

/// Reads a whole small file. `bytes`: its length, where that is known. Errors: environment, also when less can
/// be read; bad input when it is larger than a document can be.
Result<std::string> read_text(ByteStore& store,
                              const std::string& path,
                              std::optional<std::uint64_t> bytes = std::nullopt);

inline constexpr int kDocumentVersion = 1;

/// Writes a document under a partial name of its own, makes it durable and renames it; replaces nothing. `make`
/// gets the file_id (FileInfo) of the new file, and gives the members but for schema and version.
Result<void> write_document(ByteStore& store,
                            const std::string& path,
                            std::string_view schema,
                            const std::function<Json(std::uint64_t file_id)>& make);
/// True when the content of a file is a document of streamsim, or its empty beginning. Errors: environment from
/// the store.
Result<bool> is_document(ByteStore& store, const std::string& path);
/// The same of a document that was not on stable storage when the power failed: a beginning, zeroes, or a
/// beginning and zeroes. REQUIRES: the file has the name of an unfinished document, with the id of its run.
Result<bool> is_torn_document(ByteStore& store, const std::string& path);
/// True when name and content of a file are those that an interrupted write_document() or removal leaves.
Result<bool> is_unfinished(ByteStore& store, const std::string& path, const std::string& document_name);

/// Reads a document of this schema. Nothing where there is no such regular file, where its text is damaged, and
/// where it is another document. Errors: environment from the store.
Result<std::optional<Json>> read_own_document(ByteStore& store,
                                              const std::string& path,
                                              std::string_view schema);

}  // namespace streamsim::media
