// Removes a file that was checked before, and never another file that took its name since. On stores that can
// (ByteStore::set_aside) the file first gets a name that only this removal uses, is checked again under that
// name, and is then removed or gets its name back. On other stores it is checked under its own name. Inside
// media/ only.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "streamsim/byte_store.h"

namespace streamsim::media {

/// Called with the name that the file has at the time of the check.
using IsOurs = std::function<Result<bool>(const std::string& path)>;

/// Removes `path` if it still is the regular file whose stat() is `seen`, and if `is_ours` (when given) returns
/// true. False: another file has the name, and stays. Errors: environment; also when a third file took the name
/// before the other file got it back, which then stays under the name in the message.
Result<bool> remove_seen(ByteStore& store,
                         const std::string& path,
                         const FileInfo& seen,
                         const IsOurs& is_ours = nullptr);

/// Removes the file of this name, if there is one. Errors: as remove_seen; `foreign` where another file stays.
Result<void> make_way(ByteStore& store,
                      const std::string& path,
                      const Error& foreign,
                      const IsOurs& is_ours = nullptr);

/// Removes the ending that an interrupted removal leaves on a name: ".0123456789abcdef.removing".
bool take_removing(std::string_view& name);
/// True when a file with such a name is the file that was to be removed: the ending encodes inode, length and
/// time.
bool is_half_removed(std::string_view name, const FileInfo& info);

}  // namespace streamsim::media
