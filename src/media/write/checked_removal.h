// Removing a file that was looked at, so that another one which takes its name meanwhile stays. Where the store
// can (ByteStore::set_aside), the file first gets a name that only this removal uses, is looked at again under
// it, and is removed there or gets its name back. Inside media/ only.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "streamsim/byte_store.h"

namespace streamsim::media {

/// Asked of the file under the name that it has by then.
using IsOurs = std::function<bool(const std::string& path)>;

/// Removes `path` where it still is the regular file of which `seen` is the stat(), and where `is_ours`, if
/// there is one, says so. False: it is something else, and has its name. Errors: environment; also where
/// something took the name before that other file got it back: then it stays under the name that is told.
Result<bool> remove_seen(ByteStore& store,
                         const std::string& path,
                         const FileInfo& seen,
                         const IsOurs& is_ours = nullptr);

/// Takes off the ending of a name that a removal which was killed left behind: ".0123456789abcdef.removing".
bool take_removing(std::string_view& name);
/// Whether a file of such a name is what was to be removed: the ending tells inode, length and time.
bool is_half_removed(std::string_view name, const FileInfo& info);

}  // namespace streamsim::media
