#include "storage/nfs/nfs_opening.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace streamsim::storage {
namespace {

constexpr std::uint32_t kLinksMax = 40;  // as Linux
constexpr std::size_t kNameMax = 255;
constexpr std::size_t kDirectoriesMax = 10'000;
constexpr Duration kPatience = milliseconds(100);
constexpr Duration kAfterLoss = milliseconds(20);

/// The names of a path, put before those of `rest`, whose last one comes first.
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

void NfsOpening::begin(NfsNode& node, NfsWish wish, void (*done)(void*, NfsOpening&), void* owner) {
    node_ = &node;
    done_ = done;
    owner_ = owner;
    wish_ = std::move(wish);
    busy_ = true;
    asked_ = ended_ = went_stale_ = used_memory_ = from_known_ = maybe_done_ = false;
    may_remember_ = true;
    error_ = 0;
    not_before_ = {};
    file_ = {};
    walk(wish_.path);
}

bool NfsOpening::wants_parent() const {
    return wish_.operation == OpKind::open ? wish_.access == Access::create_new
                                           : !wants(PathOp::Kind::stat) && !wants(PathOp::Kind::list);
}

void NfsOpening::walk(const std::string& path) {
    path_ = path;
    const std::size_t slash = path_.find_last_of('/');
    directory_ = slash == std::string::npos ? "" : path_.substr(0, slash);
    remembers_ = may_remember_;
    links_ = 0;
    bytes_ = entries_ = cookie_ = 0;
    cookie_verifier_ = {};
    step_ = Step::lookup;
    from_root(path_);
}

void NfsOpening::from_root(const std::string& path) {
    rest_.clear();
    parents_.clear();
    at_.size = 0;  // the root, whatever it is by then
    first_walk_ = true;
    if (remembers_) {
        const auto known = node_->directories().find(directory_);
        if (known != node_->directories().end()) {
            at_ = known->second;
            put_before(rest_, std::string_view(path).substr(directory_.size()));
            if (rest_.size() == 1) {
                used_memory_ = true;
                return next();
            }
            rest_.clear();
            at_.size = 0;
        }
    }
    remembers_ = false;
    put_before(rest_, path);
    step_ = Step::lookup;
}

/// What comes next on the way, now that at_ is a directory.
void NfsOpening::next() {
    if (rest_.empty()) {
        object_ = at_;
        if (wants(PathOp::Kind::stat) || wants(PathOp::Kind::list)) return look();
        if (!wants_parent()) return finish(EISDIR);
        return finish(wish_.operation == OpKind::open || wants(PathOp::Kind::make_directory) ? EEXIST : EBUSY);
    }
    step_ = Step::lookup;
    if (rest_.size() > 1) return;
    if (wants_parent()) {
        step_ = Step::arrived;
    } else if (node_->version() == 4 && rest_.back() != "..") {
        step_ = Step::open;
    }
}

void NfsOpening::advance(Instant now) {
    if (!busy_ || asked_) return;
    if (ended_) return tell();
    if (now < not_before_ || !node_->ready()) return;
    now_ = now;
    step();
    if (ended_) tell();
}

void NfsOpening::tell() {
    busy_ = ended_ = false;
    done_(owner_, *this);
}

/// False: it has ended.
bool NfsOpening::find_root() {
    at_ = node_->root();
    if (remembers_) return true;
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

void NfsOpening::step() {
    if (at_.size == 0 && !find_root()) return;
    if (step_ == Step::arrived) {
        arrive();
        if (ended_) return;
        if (step_ != Step::rename && from_known_) return step();  // to where it is renamed to
    }
    if (step_ == Step::lookup && rest_.back() == "..") {
        if (parents_.empty()) {
            if (!std::exchange(remembers_, false)) return finish(ENOENT);  // above the export
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
    asked_ = ask(node_->pick());
    if (asked_) return node_->count_request();
    finish(EIO);
}

/// at_ is the directory of what is to be changed.
void NfsOpening::arrive() {
    if (rest_.back() == "..") return finish(EINVAL);
    if (wish_.operation == OpKind::open) {
        step_ = Step::create;
    } else if (wants(PathOp::Kind::make_directory)) {
        step_ = Step::make_directory;
    } else if (wants(PathOp::Kind::remove)) {
        step_ = Step::remove;
    } else if (from_known_) {
        step_ = Step::rename;
    } else {
        from_ = at_;
        from_name_ = rest_.back();
        from_known_ = true;
        walk(wish_.to);
    }
}

bool NfsOpening::ask(NfsLink& link) {
    const Instant now = now_;
    const NfsRequests& requests = node_->requests();
    switch (step_) {
        case Step::lookup:
        case Step::look_at_link: return requests.lookup(link, call_, at_, rest_.back(), now);
        case Step::read_link: return requests.read_link(link, call_, link_, now);
        case Step::access: return NfsRequests::access(link, call_, file_.handle, now);
        case Step::confirm: return NfsRequests::confirm_open(link, call_, file_, now);
        case Step::open:
            file_ = {};
            file_.owner = node_->new_owner();
            client_ = node_->client();
            return NfsRequests::open(link, call_, client_, at_, rest_.back(), file_, now);
        case Step::attributes: return NfsRequests::attributes(link, call_, object_, now);
        case Step::list: return NfsRequests::list(link, call_, object_, cookie_, cookie_verifier_, now);
        default: return ask_change(link);
    }
}

bool NfsOpening::ask_change(NfsLink& link) {
    const std::string& name = rest_.back();
    switch (step_) {
        case Step::create: return NfsRequests::create(link, call_, at_, name, now_);
        case Step::make_directory: return NfsRequests::make_directory(link, call_, at_, name, now_);
        case Step::remove: return NfsRequests::remove(link, call_, at_, name, now_);
        case Step::remove_directory: return NfsRequests::remove_directory(link, call_, at_, name, now_);
        case Step::rename: return NfsRequests::rename(link, call_, from_, from_name_, at_, name, now_);
        default: return false;
    }
}

void NfsOpening::finish(int error) {
    error_ = error;
    ended_ = true;
}

void NfsOpening::on_reply(void* self, NfsCall&, const NfsReply& reply) {
    auto& opening = *static_cast<NfsOpening*>(self);
    opening.asked_ = false;
    opening.take(reply);
    if (opening.ended_) opening.tell();
}

void NfsOpening::take(const NfsReply& reply) {
    const Instant now = node_->now();
    switch (reply.outcome) {
        case NfsOutcome::done: break;
        case NfsOutcome::failed:
            if (!take_failure(reply.error)) finish(reply.error);
            return;
        case NfsOutcome::later: not_before_ = now + kPatience; return;
        case NfsOutcome::stale: return go_stale();
        case NfsOutcome::lost:
            not_before_ = now + kAfterLoss;
            if (step_ == Step::confirm) step_ = Step::open;
            maybe_done_ = maybe_done_ || (step_ >= Step::create && step_ <= Step::rename);
            return;
        case NfsOutcome::expired:
            node_->client_expired(client_);
            step_ = Step::open;
            not_before_ = now + kAfterLoss;
            return;
        case NfsOutcome::is_link: step_ = Step::look_at_link; return;
    }
    switch (step_) {
        case Step::lookup:
        case Step::look_at_link: return take_lookup(reply);
        case Step::read_link: return take_link(reply.text);
        case Step::access: {
            const bool may = reply.may_read && (wish_.access == Access::read || reply.may_write);
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

/// False: it stays a failure.
bool NfsOpening::take_failure(int error) {
    const bool absent = error == ENOENT;
    const bool here = rest_.size() == 1;
    if (absent && step_ == Step::lookup && here && wish_.operation == OpKind::open && creates()) {
        step_ = Step::create;
        return true;
    }
    if (error == EEXIST && step_ == Step::create && (maybe_done_ || wish_.access == Access::create)) {
        step_ = Step::lookup;  // ours, or somebody else was faster
        return true;
    }
    const bool removes = step_ == Step::remove || step_ == Step::remove_directory || step_ == Step::rename;
    if (maybe_done_ && ((error == EEXIST && step_ == Step::make_directory) || (absent && removes))) {
        finish(0);
        return true;
    }
    if (step_ == Step::remove && (error == EISDIR || error == EPERM)) {
        step_ = Step::remove_directory;
        return true;
    }
    // A directory that is remembered may be another one by now.
    if (!absent || !(step_ == Step::rename ? used_memory_ : remembers_) || links_ > 0) return false;
    forget();
    return true;
}

/// At the object itself.
void NfsOpening::look() {
    step_ = wants(PathOp::Kind::list) ? Step::list : Step::attributes;
}

void NfsOpening::take_list(const NfsReply& reply) {
    entries_ += reply.entries;
    cookie_ = reply.cookie;
    cookie_verifier_ = reply.verifier;
    if (reply.end_of_file) finish(0);
}

/// What was known of directories of these names, and of those in them.
void NfsOpening::forget_below() {
    for (const std::string& name : {wish_.path, wish_.to}) {
        if (name.empty()) continue;
        std::erase_if(node_->directories(), [&](const auto& known) {
            const std::string& each = known.first;
            return each == name || (each.starts_with(name) && each[name.size()] == '/');
        });
    }
}

void NfsOpening::take_lookup(const NfsReply& reply) {
    if (reply.kind == NfsKind::link) {
        if (writes() && rest_.size() == 1) return finish(ELOOP);
        if (rest_.size() == 1) first_walk_ = false;
        link_ = reply.handle;
        step_ = Step::read_link;
        return;
    }
    const bool last = rest_.size() == 1;
    if (last && wish_.operation == OpKind::path) {
        object_ = reply.handle;
        return look();
    }
    if (reply.kind == NfsKind::directory) {
        if (last) return finish(EISDIR);
        parents_.push_back(at_);
        at_ = reply.handle;
        rest_.pop_back();
        if (rest_.size() == 1 && first_walk_ && !remembers_ && rest_.back() != "..") {
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

void NfsOpening::take_link(std::string_view text) {
    if (++links_ > kLinksMax) return finish(ELOOP);
    rest_.pop_back();
    if (text.starts_with('/')) {
        const auto below = node_->below_root(text);
        if (!below) return finish(ENOENT);  // of another export
        at_ = node_->root();
        parents_.clear();
        remembers_ = false;
        put_before(rest_, *below);
    } else {
        put_before(rest_, text);
    }
    next();
}

void NfsOpening::take_open(const NfsReply& reply) {
    file_.handle = reply.handle;
    file_.state = reply.state;
    file_.state_sequence = reply.state_sequence;
    file_.owner_sequence = 1;
    if (!reply.confirm) return finish(0);
    step_ = Step::confirm;
}

/// What was known of the directories is wrong: once more from the root.
void NfsOpening::go_stale() {
    const bool root = parents_.empty() && !remembers_;
    if (root) node_->root_stale(node_->now());
    if (std::exchange(went_stale_, true) && !root) return finish(ESTALE);
    node_->directories().clear();
    forget();
}

void NfsOpening::forget() {
    node_->directories().erase(directory_);
    may_remember_ = used_memory_ = from_known_ = false;
    walk(wish_.path);
}

}  // namespace streamsim::storage
