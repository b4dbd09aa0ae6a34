#include "storage/nfs/nfs_path_walk.h"

#include <algorithm>
#include <utility>

#include "base/system/errno_values.h"

namespace streamsim::storage {
namespace {

constexpr std::uint32_t kLinksMax = 40;  // as Linux
constexpr std::size_t kNameMax = 255;
constexpr std::size_t kDirectoriesMax = 10'000;

/// The key of NfsNode::directories(); empty for a name in the root.
std::string directory_of(const std::string& path) {
    const std::size_t slash = path.find_last_of('/');
    return slash == std::string::npos ? "" : path.substr(0, slash);
}

/// Puts the names of a path before those of `rest`, which is in reverse order.
void put_before(std::vector<std::string>& rest, std::string_view path) {
    std::vector<std::string> names;
    for (std::size_t at = 0; at < path.size();) {
        const std::size_t end = std::min(path.find('/', at), path.size());
        const std::string_view name = path.substr(at, end - at);
        if (!name.empty() && name != ".") names.emplace_back(name);
        at = end + 1;
    }
    rest.insert(rest.end(), names.rbegin(), names.rend());
}

}  // namespace

void NfsPathWalk::begin(NfsNode& node, NfsPathRequest request, void (*done)(void*, NfsPathWalk&), void* owner) {
    node_ = &node;
    done_ = done;
    owner_ = owner;
    request_ = std::move(request);
    busy_ = true;
    asked_ = given_up_ = ended_ = went_stale_ = used_cache_ = from_found_ = maybe_done_ = false;
    may_use_cache_ = true;
    error_ = 0;
    not_before_ = {};
    file_ = {};
    walk(request_.path);
}

bool NfsPathWalk::wants_parent() const {
    return request_.operation == OpKind::open ? request_.access == Access::create_new
                                              : !wants(PathOp::Kind::stat) && !wants(PathOp::Kind::list);
}

void NfsPathWalk::walk(const std::string& path) {
    path_ = path;
    directory_ = directory_of(path_);
    from_cached_ = may_use_cache_;
    links_ = 0;
    bytes_ = entries_ = cookie_ = 0;
    cookie_verifier_ = {};
    looks_back_ = false;
    step_ = Step::lookup;
    from_root(path_);
}

void NfsPathWalk::from_root(const std::string& path) {
    rest_.clear();
    parents_.clear();
    at_.size = 0;  // the root handle is taken when the walk goes on: it may change until then
    first_walk_ = true;
    // The nearest directory whose handle is known.
    for (std::string near = directory_; from_cached_ && !near.empty(); near = directory_of(near)) {
        const auto known = node_->directories().find(near);
        if (known == node_->directories().end()) continue;
        put_before(rest_, std::string_view(path).substr(near.size()));
        if (rest_.empty()) break;
        at_ = known->second;
        used_cache_ = true;
        return next();
    }
    rest_.clear();
    from_cached_ = false;
    put_before(rest_, path);
    step_ = Step::lookup;
}

/// Chooses the next step, now that at_ is a directory.
void NfsPathWalk::next() {
    if (rest_.empty()) {
        object_ = at_;
        if (wants(PathOp::Kind::stat) || wants(PathOp::Kind::list)) return inspect();
        if (!wants_parent()) return finish(EISDIR);
        return finish(request_.operation == OpKind::open || wants(PathOp::Kind::make_directory) ? EEXIST
                                                                                                : EBUSY);
    }
    step_ = Step::lookup;
    if (rest_.size() > 1) return;
    if (wants_parent()) {
        step_ = Step::arrived;
    } else if (node_->version() == 4 && rest_.back() != "..") {
        step_ = Step::open;
    }
}

void NfsPathWalk::advance(Instant now) {
    if (!busy_ || asked_) return;
    // A file that the server has opened is still confirmed, to be closed.
    if (given_up_ && !ended_ && step_ != Step::confirm) finish(ETIMEDOUT);
    if (ended_) return run_callback();
    if (now < not_before_ || !node_->ready()) return;
    now_ = now;
    step();
    if (ended_) run_callback();
}

void NfsPathWalk::run_callback() {
    busy_ = ended_ = false;
    done_(owner_, *this);
}

/// False: the walk has ended.
bool NfsPathWalk::find_root() {
    at_ = node_->root();
    if (from_cached_) return true;
    const auto below = node_->below_root(path_);
    if (!below) {
        finish(ENOENT);
        return false;
    }
    rest_.clear();
    put_before(rest_, *below);
    next();
    return !ended_;
}

void NfsPathWalk::step() {
    if (at_.size == 0 && !find_root()) return;
    if (step_ == Step::arrived) {
        arrive();
        if (ended_) return;
        if (step_ != Step::rename && from_found_) return step();  // on to the new name of a rename
    }
    if (step_ == Step::lookup && rest_.back() == "..") {
        if (parents_.empty()) {
            if (!std::exchange(from_cached_, false)) return finish(ENOENT);  // above the export
            links_ = 0;
            return from_root(path_);
        }
        at_ = parents_.back();
        parents_.pop_back();
        rest_.pop_back();
        return next();
    }
    if (!rest_.empty() && rest_.back().size() > kNameMax) return finish(ENAMETOOLONG);
    call_ = {on_reply, this};
    asked_ = ask();
    if (!asked_) finish(EIO);
}

/// Chooses the change, now that at_ is the directory of the name to be changed.
void NfsPathWalk::arrive() {
    if (rest_.back() == "..") return finish(EINVAL);
    if (request_.operation == OpKind::open) {
        step_ = Step::create;
    } else if (wants(PathOp::Kind::make_directory)) {
        step_ = Step::make_directory;
    } else if (wants(PathOp::Kind::remove)) {
        step_ = Step::remove;
    } else if (from_found_) {
        step_ = Step::rename;
    } else {
        from_ = at_;
        from_name_ = rest_.back();
        from_found_ = true;
        walk(request_.to);
    }
}

bool NfsPathWalk::ask() {
    const NfsRequests requests = node_->requests(now_);
    switch (step_) {
        case Step::lookup:
        case Step::lookup_link: return requests.lookup(call_, at_, rest_.back());
        case Step::read_link: return requests.read_link(call_, link_);
        case Step::access: return requests.access(call_, file_.handle);
        case Step::confirm: return requests.confirm_open(call_, file_);
        case Step::open:
            file_ = {};
            file_.owner = node_->new_owner();
            client_ = node_->client();
            return requests.open(call_, client_, at_, rest_.back(), file_);
        case Step::kind:
        case Step::attributes: return requests.attributes(call_, object_);
        case Step::list: return requests.list(call_, object_, cookie_, cookie_verifier_);
        case Step::create: return requests.create(call_, at_, rest_.back());
        case Step::make_directory: return requests.make_directory(call_, at_, rest_.back());
        case Step::remove: return requests.remove(call_, at_, rest_.back());
        case Step::remove_directory: return requests.remove_directory(call_, at_, rest_.back());
        case Step::rename: return requests.rename(call_, from_, from_name_, at_, rest_.back());
        case Step::arrived: break;
    }
    return false;
}

void NfsPathWalk::finish(int error) {
    error_ = error;
    ended_ = true;
}

void NfsPathWalk::on_reply(void* self, NfsCall&, const NfsReply& reply) {
    auto& walk = *static_cast<NfsPathWalk*>(self);
    walk.asked_ = false;
    walk.take(reply);
    if (walk.ended_) walk.run_callback();
}

/// True: the request was performed, and the reply has its results.
bool NfsPathWalk::handle_outcome(const NfsReply& reply) {
    const Instant now = node_->now();
    switch (reply.outcome) {
        case NfsOutcome::done: return true;
        case NfsOutcome::failed:
            if (!take_failure(reply.error)) finish(reply.error);
            break;
        case NfsOutcome::later: ask_later(now); break;
        case NfsOutcome::stale: go_stale(); break;
        case NfsOutcome::lost:
            not_before_ = now + kLossPause;
            if (step_ == Step::confirm) step_ = Step::open;
            maybe_done_ = maybe_done_ || (step_ >= Step::create && step_ <= Step::rename);
            break;
        case NfsOutcome::expired:
            node_->client_expired(client_);
            if (step_ == Step::confirm) step_ = Step::open;
            not_before_ = now + kLossPause;
            break;
        case NfsOutcome::is_link: step_ = Step::lookup_link; break;
    }
    return false;
}

void NfsPathWalk::take(const NfsReply& reply) {
    if (!handle_outcome(reply)) return;
    switch (step_) {
        case Step::lookup:
        case Step::lookup_link: return take_lookup(reply);
        case Step::kind: return take_kind(reply);
        case Step::read_link: return take_link(reply.text);
        case Step::access: {
            const bool may = reply.may_read && (request_.access == Access::read || reply.may_write);
            return finish(may ? 0 : EACCES);
        }
        case Step::open: return take_open(reply);
        case Step::confirm:
            file_.state = reply.state;
            file_.state_sequence = reply.state_sequence;
            ++file_.owner_sequence;
            return finish(0);
        case Step::create:
            file_.handle = reply.handle;
            if (reply.handle.size > 0) return finish(0);
            step_ = Step::lookup;
            return;
        case Step::remove_directory:
        case Step::rename: forget_below(); return finish(0);
        case Step::attributes: bytes_ = reply.kind == NfsKind::file ? reply.size : 0; return finish(0);
        case Step::list: return take_list(reply);
        case Step::arrived:
        case Step::make_directory:
        case Step::remove: return finish(0);
    }
}

/// False: the failure is the result.
bool NfsPathWalk::take_failure(int error) {
    const bool absent = error == ENOENT;
    const bool here = rest_.size() == 1;
    if (absent && step_ == Step::lookup && here && request_.operation == OpKind::open && creates()) {
        step_ = Step::create;
        return true;
    }
    if (looks_back_) return false;
    if (error == EEXIST && step_ == Step::create && request_.access == Access::create) {
        step_ = Step::lookup;
        return true;
    }
    const bool makes = step_ == Step::create || step_ == Step::make_directory;
    if (maybe_done_ && ((error == EEXIST && makes) || (absent && step_ == Step::rename))) {
        looks_back_ = true;
        step_ = Step::lookup;
        return true;
    }
    if (maybe_done_ && absent && (step_ == Step::remove || step_ == Step::remove_directory)) {
        finish(0);
        return true;
    }
    if (step_ == Step::remove && (error == EISDIR || error == EPERM)) {
        step_ = Step::remove_directory;
        return true;
    }
    // The path of a cached directory may name another directory by now.
    if (!absent || !(step_ == Step::rename ? used_cache_ : from_cached_) || links_ > 0) return false;
    forget();
    return true;
}

/// The walk has reached the object of a stat or a list.
void NfsPathWalk::inspect() {
    step_ = wants(PathOp::Kind::list) ? Step::list : Step::attributes;
}

void NfsPathWalk::take_list(const NfsReply& reply) {
    entries_ += reply.entries;
    cookie_ = reply.cookie;
    cookie_verifier_ = reply.verifier;
    if (reply.end_of_file) finish(0);
}

/// Removes the directories of these names, and those below them, from the cache.
void NfsPathWalk::forget_below() {
    for (const std::string& name : {request_.path, request_.to}) {
        if (name.empty()) continue;
        std::erase_if(node_->directories(), [&](const auto& known) {
            const std::string& each = known.first;
            return each == name || (each.starts_with(name) && each[name.size()] == '/');
        });
    }
}

/// Whether the change was made before the loss: a name that was there already is refused.
void NfsPathWalk::take_look_back(const NfsReply& reply) {
    if (wants(PathOp::Kind::rename)) {
        forget_below();
        return finish(0);
    }
    if (request_.operation == OpKind::path) return finish(reply.kind == NfsKind::directory ? 0 : EEXIST);
    if (reply.kind != NfsKind::file || reply.size > 0 || reply.links > 1) return finish(EEXIST);
    file_.handle = reply.handle;
    step_ = Step::access;
}

/// The attributes that the reply to a lookup did not have.
void NfsPathWalk::take_kind(const NfsReply& reply) {
    NfsReply found = reply;
    found.handle = object_;
    take_lookup(found);
}

void NfsPathWalk::take_lookup(const NfsReply& reply) {
    if (!reply.has_attributes && node_->version() == 3) {
        object_ = reply.handle;
        step_ = Step::kind;
        return;
    }
    if (looks_back_) return take_look_back(reply);
    const bool last = rest_.size() == 1;
    if (reply.kind == NfsKind::link) {
        if (writes() && last) return finish(ELOOP);
        if (last) first_walk_ = false;
        link_ = reply.handle;
        step_ = Step::read_link;
        return;
    }
    if (last && request_.operation == OpKind::path) {
        object_ = reply.handle;
        return inspect();
    }
    if (reply.kind == NfsKind::directory) {
        if (last) return finish(EISDIR);
        parents_.push_back(at_);
        at_ = reply.handle;
        rest_.pop_back();
        if (rest_.size() == 1 && first_walk_ && rest_.back() != "..") {
            auto& known = node_->directories();
            if (known.size() >= kDirectoriesMax) known.clear();
            known.insert_or_assign(directory_, at_);
            first_walk_ = false;
        }
        return next();
    }
    if (!last) return finish(ENOTDIR);
    if (reply.kind != NfsKind::file) return finish(EINVAL);
    if (writes() && reply.links > 1) return finish(EMLINK);
    file_.handle = reply.handle;
    step_ = node_->version() == 4 ? Step::open : Step::access;
}

void NfsPathWalk::take_link(std::string_view text) {
    if (++links_ > kLinksMax) return finish(ELOOP);
    rest_.pop_back();
    if (text.starts_with('/')) {
        const auto below = node_->below_root(text);
        if (!below) return finish(ENOENT);  // on another export
        at_ = node_->root();
        parents_.clear();
        from_cached_ = false;
        put_before(rest_, *below);
    } else {
        put_before(rest_, text);
    }
    next();
}

void NfsPathWalk::take_open(const NfsReply& reply) {
    file_.handle = reply.handle;
    file_.state = reply.state;
    file_.state_sequence = reply.state_sequence;
    file_.owner_sequence = 1;
    if (!reply.confirm) return finish(0);
    step_ = Step::confirm;
}

void NfsPathWalk::ask_later(Instant now) {
    not_before_ = now + kRetryPause;
}

/// The cached directories are out of date: walks once more from the root.
void NfsPathWalk::go_stale() {
    const bool root = parents_.empty() && !from_cached_;
    if (root) {
        node_->root_stale(node_->now());
        ask_later(node_->now());
    }
    if (std::exchange(went_stale_, true) && !root) return finish(ESTALE);
    node_->directories().clear();
    forget();
}

void NfsPathWalk::forget() {
    for (std::string at = directory_; !at.empty(); at = directory_of(at)) node_->directories().erase(at);
    may_use_cache_ = used_cache_ = from_found_ = false;
    walk(request_.path);
}

}  // namespace streamsim::storage
