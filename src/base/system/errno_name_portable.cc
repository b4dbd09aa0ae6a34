// The errno values that C++ defines everywhere and those of file servers, for C libraries without a list of
// names.
#include <algorithm>
#include <iterator>

#include "base/system/errno_name.h"
#include "base/system/errno_values.h"

namespace streamsim {
namespace {

struct Known {
    int error;
    const char* name;
    const char* description;
};

constexpr Known kKnown[] = {
    {E2BIG, "E2BIG", "Argument list too long"},
    {EACCES, "EACCES", "Permission denied"},
    {EADDRINUSE, "EADDRINUSE", "Address already in use"},
    {EADDRNOTAVAIL, "EADDRNOTAVAIL", "Cannot assign requested address"},
    {EAGAIN, "EAGAIN", "Resource temporarily unavailable"},
    {EBADF, "EBADF", "Bad file descriptor"},
    {EBUSY, "EBUSY", "Device or resource busy"},
    {ECANCELED, "ECANCELED", "Operation canceled"},
    {ECONNABORTED, "ECONNABORTED", "Software caused connection abort"},
    {ECONNREFUSED, "ECONNREFUSED", "Connection refused"},
    {ECONNRESET, "ECONNRESET", "Connection reset by peer"},
    {EDOM, "EDOM", "Numerical argument out of domain"},
    {EDQUOT, "EDQUOT", "Disk quota exceeded"},
    {EEXIST, "EEXIST", "File exists"},
    {EFAULT, "EFAULT", "Bad address"},
    {EFBIG, "EFBIG", "File too large"},
    {EHOSTUNREACH, "EHOSTUNREACH", "No route to host"},
    {EINTR, "EINTR", "Interrupted system call"},
    {EINVAL, "EINVAL", "Invalid argument"},
    {EIO, "EIO", "Input/output error"},
    {EISDIR, "EISDIR", "Is a directory"},
    {ELOOP, "ELOOP", "Too many levels of symbolic links"},
    {EMFILE, "EMFILE", "Too many open files"},
    {EMLINK, "EMLINK", "Too many links"},
    {ENAMETOOLONG, "ENAMETOOLONG", "File name too long"},
    {ENETDOWN, "ENETDOWN", "Network is down"},
    {ENETUNREACH, "ENETUNREACH", "Network is unreachable"},
    {ENFILE, "ENFILE", "Too many open files in system"},
    {ENODEV, "ENODEV", "No such device"},
    {ENOENT, "ENOENT", "No such file or directory"},
    {ENOLCK, "ENOLCK", "No locks available"},
    {ENOMEM, "ENOMEM", "Cannot allocate memory"},
    {ENOSPC, "ENOSPC", "No space left on device"},
    {ENOSYS, "ENOSYS", "Function not implemented"},
    {ENOTCONN, "ENOTCONN", "Transport endpoint is not connected"},
    {ENOTDIR, "ENOTDIR", "Not a directory"},
    {ENOTEMPTY, "ENOTEMPTY", "Directory not empty"},
    {ENOTSUP, "ENOTSUP", "Operation not supported"},
    {ENXIO, "ENXIO", "No such device or address"},
    {EPERM, "EPERM", "Operation not permitted"},
    {EPIPE, "EPIPE", "Broken pipe"},
    {EPROTO, "EPROTO", "Protocol error"},
    {ERANGE, "ERANGE", "Numerical result out of range"},
    {EROFS, "EROFS", "Read-only file system"},
    {ESPIPE, "ESPIPE", "Illegal seek"},
    {ESTALE, "ESTALE", "Stale file handle"},
    {ETIMEDOUT, "ETIMEDOUT", "Connection timed out"},
    {ETXTBSY, "ETXTBSY", "Text file busy"},
    {EXDEV, "EXDEV", "Invalid cross-device link"},
};

const Known* known(int error) {
    const auto* const found = std::find_if(std::begin(kKnown), std::end(kKnown),
                                           [=](const Known& each) { return each.error == error; });
    return found == std::end(kKnown) ? nullptr : found;
}

}  // namespace

const char* errno_name(int error) {
    const Known* const found = known(error);
    return found == nullptr ? nullptr : found->name;
}

const char* errno_description(int error) {
    const Known* const found = known(error);
    return found == nullptr ? nullptr : found->description;
}

std::optional<int> errno_from_name(std::string_view name) {
    for (const Known& each : kKnown) {
        if (each.name == name) return each.error;
    }
    return std::nullopt;
}

}  // namespace streamsim
