// By paths and libuv: each component is checked before the call, so that an existing link is refused; a link
// that is made in that moment goes unnoticed.
#include <cerrno>

#include "storage/local/beneath.h"
#include "storage/local/rename_new.h"
#include "storage/local/uv_files.h"

namespace streamsim::storage {
namespace {

int errno_or_zero(int code) {
    return code < 0 ? errno_of_uv(code) : 0;
}

int look(const std::string& path, FileInfo& facts) {
    uv_stat_t info{};
    if (const int code = stat_uv(path, false, info); code < 0) return errno_of_uv(code);
    facts = info_of(info);
    return 0;
}

/// Returns the whole path; or an errno when a component on the way is no directory or leads elsewhere.
int resolve_path(const std::string& root, const std::string& path, std::string& whole) {
    if (root.empty()) return EBADF;
    if (path.empty()) return ENOENT;
    whole = root;
    for (std::size_t begin = 0; begin != std::string::npos;) {
        const std::size_t slash = path.find_first_of("/\\", begin);
        const std::string name = path.substr(begin, slash == std::string::npos ? slash : slash - begin);
        if (name == ".." || name.find(':') != std::string::npos || path.front() == '/') return EXDEV;
        if (!whole.ends_with('/')) whole += '/';
        whole += name;
        begin = slash == std::string::npos ? slash : path.find_first_not_of("/\\", slash);
        if (begin == std::string::npos) break;
        FileInfo facts;
        if (const int error = look(whole, facts)) return error;
        if (facts.symbolic_link) return ELOOP;
        if (!facts.directory) return ENOTDIR;
    }
    return 0;
}

/// As resolve_path(), and looks at the object there.
int resolve_and_look(const std::string& root, const std::string& path, std::string& whole, FileInfo& facts) {
    const int error = resolve_path(root, path, whole);
    return error != 0 ? error : look(whole, facts);
}

}  // namespace

int Beneath::open(const std::string& directory, Beneath& into, Resolve resolve) {
    uv_stat_t info{};
    if (const int code = stat_uv(directory, true, info); code < 0) return errno_of_uv(code);
    if (!is_kind(info, kDirectoryKind)) return ENOTDIR;
    into.root_ = directory;
    into.resolve_ = resolve;
    return 0;
}

int Beneath::enter(const std::string& path, Beneath& into) const {
    std::string whole;
    FileInfo facts;
    if (const int error = resolve_and_look(root_, path, whole, facts)) return error;
    if (facts.symbolic_link) return ELOOP;
    return open(whole, into, resolve_);
}

OpenedFile Beneath::open_file(const std::string& path, Access access, bool direct) const {
    std::string whole;
    if (const int error = resolve_path(root_, path, whole)) return {-1, error};
    if (access == Access::create_new) return open_local(whole.c_str(), access, direct);
    FileInfo facts;
    const int error = look(whole, facts);
    if (error == ENOENT && access == Access::create)
        return open_local(whole.c_str(), Access::create_new, direct);
    if (error != 0) return {-1, error};
    if (const int wrong = unsuitable(facts, access != Access::read)) return {-1, wrong};
    return open_local(whole.c_str(), access == Access::create ? Access::write : access, direct);
}

int Beneath::look_at(const std::string& path, FileInfo& facts) const {
    std::string whole;
    return resolve_and_look(root_, path, whole, facts);
}

int Beneath::list(const std::string& path, std::vector<DirectoryEntry>& entries) const {
    std::string whole;
    FileInfo facts;
    if (const int error = resolve_and_look(root_, path, whole, facts)) return error;
    if (facts.symbolic_link) return ELOOP;
    return errno_or_zero(read_directory(whole, entries));
}

int Beneath::make_directory(const std::string& path) const {
    std::string whole;
    if (const int error = resolve_path(root_, path, whole)) return error;
    return errno_or_zero(call_uv(uv_fs_mkdir, whole, 0777));
}

int Beneath::rename(const std::string& from, const std::string& to) const {
    std::string old_path, new_path;
    if (const int error = resolve_path(root_, from, old_path)) return error;
    if (const int error = resolve_path(root_, to, new_path)) return error;
    return rename_new(old_path, new_path);
}

int Beneath::set_aside(const std::string& from, const std::string& to) const {
    return rename(from, to);
}

int Beneath::replace(const std::string& from, const std::string& to) const {
    std::string old_path, new_path;
    if (const int error = resolve_path(root_, from, old_path)) return error;
    if (const int error = resolve_path(root_, to, new_path)) return error;
    FileInfo facts;
    if (look(new_path, facts) == 0) {
        if (const int wrong = unsuitable(facts, true)) return wrong;
    }
    return errno_or_zero(call_uv(uv_fs_rename, old_path, native_path(new_path).c_str()));
}

int Beneath::remove_file(const std::string& path) const {
    std::string whole;
    FileInfo facts;
    if (const int error = resolve_and_look(root_, path, whole, facts)) return error;
    if (facts.directory) return EISDIR;
    return errno_or_zero(call_uv(uv_fs_unlink, whole));
}

int Beneath::remove_directory(const std::string& path) const {
    std::string whole;
    FileInfo facts;
    if (const int error = resolve_and_look(root_, path, whole, facts)) return error;
    if (!facts.directory) return ENOTDIR;
    return errno_or_zero(call_uv(uv_fs_rmdir, whole));
}

int Beneath::sync_directory(const std::string& path) const {
    FileInfo facts;
    return look_at(path, facts);
}

}  // namespace streamsim::storage
