// How the NFS backend works
// =========================
//
// One epoll descriptor holds the sockets of all connections; libuv polls that one descriptor, which only wakes
// the loop. reap() asks it which connections have something, without waiting, and lets libnfs take the replies
// from those. So each turn of the loop is a look at all connections with one system call, as with io_uring.
//
// A read or a write is cut into pieces, each one request of at most the size that the server gave; pieces go to
// the connection with the least outstanding. libnfs hands over a reply in its own buffer, from which it is
// copied, once, to where it belongs. A piece that comes short, or that the loss of its connection or the
// server's wish for patience sends back, waits in the line of its node and goes out again; a file whose handle
// or state the server no longer knows is opened again meanwhile. Only the answers of the server, and the end of
// RemotePlace::timeout, end an operation with an error.
//
// Writes (version 3) may stay in the server's memory (UNSTABLE) until a sync has them committed. A server that
// restarts in between gives another verifier: what it had is lost, nobody has it any more, and the sync says
// EIO.
//
// Stamps. completed_at is the time at which the last piece had been copied. The last look at which it was
// certainly not complete is the one before (looks.h).
//
// Operations that end early (cancelled, failed, too old) let go of their pieces: the reply to a piece that
// belongs to nobody is thrown away. So nothing of an operation is touched after its callback, and nothing waits
// for a server that is gone.
#include "storage/nfs/nfs_storage.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/check.h"
#include "storage/nfs/nfs_work.h"
#include "storage/own_shortage.h"
#include "storage/remote/resolve_host.h"

namespace streamsim::storage {
namespace {

constexpr Duration kTick = milliseconds(50);
constexpr Duration kGoodbye = seconds(1);  // for closing files on the server
constexpr std::uint32_t kPiecesOfEach =
    32;  // connection, besides those of the operations that may be in flight

}  // namespace

NfsStorage::NfsStorage(EventLoop& loop, std::unique_ptr<NfsServer> server, const RemoteOptions& options)
    : loop_(loop),
      server_(std::move(server)),
      timeout_(server_->place().timeout),
      writes_(std::all_of(server_->nodes().begin(),
                          server_->nodes().end(),
                          [](const auto& node) { return node->version() == 3; })),
      transfers_(std::max(options.parallel_reads, 1u)),
      errands_(std::max(options.parallel_opens, 1u)),
      poll_times_(loop) {
    for (NfsTransfer& work : transfers_) work.next = std::exchange(free_transfers_, &work);
    for (NfsErrand& errand : errands_) {
        errand.storage = this;
        errand.next = std::exchange(free_errands_, &errand);
    }
    for (const auto& node : server_->nodes()) desks_.emplace_back().node = node.get();
    for (NfsNode* node : server_->node_by_address()) {
        for (NfsDesk& desk : desks_) {
            if (desk.node == node) desk_by_address_.push_back(&desk);
        }
    }
    pieces_.resize(transfers_.size() +
                   std::size_t{kPiecesOfEach} * std::max(server_->place().connections, 1u) * desks_.size());
    for (NfsPiece& piece : pieces_) {
        piece.storage = this;
        piece.next = std::exchange(free_pieces_, &piece);
    }
}

NfsStorage::~NfsStorage() {
    STREAMSIM_CHECK(poll_ == nullptr && outstanding_ == 0, "shutdown() comes before destruction");
}

void NfsStorage::watch(uv_loop_t* uv) {
    poll_ = new uv_poll_t{};
    STREAMSIM_CHECK(uv_poll_init(uv, poll_, server_->epoll()) == 0, "libuv polls an epoll descriptor");
    poll_->data = this;
    uv_poll_start(poll_, UV_READABLE, [](uv_poll_t*, int, int) {});  // the turn that follows calls reap()
    uv_unref(reinterpret_cast<uv_handle_t*>(poll_));
    timer_ = new uv_timer_t{};
    uv_timer_init(uv, timer_);
    timer_->data = this;
    constexpr std::uint64_t kTickMs = static_cast<std::uint64_t>(kTick.ns) / 1'000'000;
    uv_timer_start(
        timer_, [](uv_timer_t* timer) { static_cast<NfsStorage*>(timer->data)->tick(); }, kTickMs, kTickMs);
    uv_unref(reinterpret_cast<uv_handle_t*>(timer_));
    loop_.add_reaper(this);
}

// ---- operations

void NfsStorage::accept(Op& op, OpKind kind) {
    STREAMSIM_CHECK(!shutdown_, "no operation comes after shutdown()");
    STREAMSIM_CHECK(kind == OpKind::read || kind == OpKind::open || writes_, "this storage writes");
    op.operation = kind;
    op.error = 0;
    op.submitted_at = loop_.now();
    op.backend = nullptr;
    ++outstanding_;
    loop_.hold();
    if (is_transfer(op) && free_transfers_ != nullptr) {
        start_transfer(op);
        deliver_later();  // what is submitted together goes out together, at the end of the turn
    } else if (is_transfer(op)) {
        waiting_transfers_.push(op);
    } else if (free_errands_ != nullptr) {
        start_errand(op);
        go_on();
    } else {
        waiting_errands_.push(op);
    }
}

void NfsStorage::settle(Op& op, int error) {
    op.error = error;
    op.completed_at = loop_.now();
    op.not_before = std::clamp(poll_times_.last(), op.submitted_at, op.completed_at);
    op.backend = nullptr;
    done_.push(op);
}

void NfsStorage::open(OpenOp& op) {
    STREAMSIM_CHECK(op.access == Access::read || writes_, "this storage writes");
    op.file = kNoFile;
    accept(op, OpKind::open);
}

void NfsStorage::read(ReadOp& op) {
    op.bytes = 0;
    accept(op, OpKind::read);
}

void NfsStorage::write(WriteOp& op) {
    op.bytes = 0;
    accept(op, OpKind::write);
}

void NfsStorage::sync(SyncOp& op) {
    accept(op, OpKind::sync);
}

void NfsStorage::perform(PathOp& op) {
    op.bytes = op.entries = 0;
    accept(op, OpKind::path);
}

NfsFile* NfsStorage::file_of(FileId file) {
    const auto index = static_cast<std::size_t>(file);
    return file >= 0 && index < files_.size() && files_[index].open ? &files_[index] : nullptr;
}

void NfsStorage::start_errand(Op& op) {
    NfsErrand& errand = *std::exchange(free_errands_, free_errands_->next);
    errand.op = &op;
    errand.desk = &desk_of(op.tag.seat);
    errand.syncs = op.operation == OpKind::sync;
    op.backend = &errand;
    if (errand.syncs) {
        const NfsFile* file = file_of(static_cast<SyncOp&>(op).file);
        errand.asked = false;
        errand.not_before = {};
        if (file != nullptr) {
            errand.desk = file->desk;
        } else {
            end_errand(errand, EBADF);
            deliver_later();
        }
        return;
    }
    NfsWish wish;
    wish.operation = op.operation;
    if (op.operation == OpKind::open) {
        wish.path = static_cast<OpenOp&>(op).path;
        wish.access = static_cast<OpenOp&>(op).access;
    } else {
        const auto& named = static_cast<PathOp&>(op);
        wish.kind = named.kind;
        wish.path = named.path;
        if (named.kind == PathOp::Kind::rename) wish.to = named.to;
    }
    errand.opening.begin(*errand.desk->node, std::move(wish), on_opened, &errand);
}

void NfsStorage::on_opened(void* of, NfsOpening& opening) {
    auto& errand = *static_cast<NfsErrand*>(of);
    NfsStorage& self = *errand.storage;
    if (errand.op != nullptr) {
        if (errand.op->operation == OpKind::path) {
            auto& op = static_cast<PathOp&>(*errand.op);
            op.bytes = opening.bytes();
            op.entries = opening.entries();
        } else if (opening.error() == 0) {
            auto& op = static_cast<OpenOp&>(*errand.op);
            op.file = self.keep(*errand.desk, op.path, opening.file());
        }
        self.end_errand(errand, opening.error());
    } else if (opening.error() == 0 && opening.file().handle.size > 0) {
        self.close_on_server(*errand.desk, opening.file());
    }
    self.free_errand(errand);
    self.deliver_later();
}

void NfsStorage::free_errand(NfsErrand& errand) {
    errand.next = std::exchange(free_errands_, &errand);
    if (!waiting_errands_.empty()) start_errand(waiting_errands_.pop());
}

/// The operation ends; the opening may go on, for nobody, as may a sync that was asked for.
void NfsStorage::end_errand(NfsErrand& errand, int error) {
    settle(*std::exchange(errand.op, nullptr), error);
    if (errand.syncs && !errand.asked) free_errand(errand);
}

void NfsStorage::ask_sync(NfsErrand& errand) {
    const Instant now = loop_.now();
    NfsNode& node = *errand.desk->node;
    const NfsFile* const file = file_of(static_cast<SyncOp&>(*errand.op).file);
    if (now < errand.not_before || !node.ready() || file == nullptr || file->opening_again) return;
    errand.call = {on_synced, &errand};
    errand.asked = NfsRequests::commit(node.pick(), errand.call, file->file.handle, now);
    if (errand.asked) node.count_request();
}

void NfsStorage::on_synced(void* of, NfsCall&, const NfsReply& reply) {
    auto& errand = *static_cast<NfsErrand*>(of);
    NfsStorage& self = *errand.storage;
    constexpr Duration kPause = milliseconds(50);
    const bool again = reply.outcome == NfsOutcome::lost || reply.outcome == NfsOutcome::later;
    errand.asked = false;
    if (errand.op == nullptr) return self.free_errand(errand);
    if (again) {
        errand.not_before = self.loop_.now() + kPause;
        return;
    }
    int error = reply.outcome == NfsOutcome::stale ? ESTALE : reply.error;
    NfsFile& file = *self.file_of(static_cast<SyncOp&>(*errand.op).file);
    if (reply.outcome == NfsOutcome::done) {
        const bool lost = file.lost || (file.unstable && file.verifier != reply.verifier);
        error = lost ? EIO : 0;
        file.unstable = file.lost = false;
    }
    self.end_errand(errand, error);
    self.deliver_later();
}

FileId NfsStorage::keep(NfsDesk& desk, std::string path, const NfsOpenFile& file) {
    if (free_files_.empty()) {
        free_files_.push_back(static_cast<FileId>(files_.size()));
        files_.emplace_back();
    }
    const FileId id = free_files_.back();
    free_files_.pop_back();
    NfsFile& kept = files_[static_cast<std::size_t>(id)];
    kept.open = true;
    kept.opening_again = kept.unstable = kept.lost = false;
    ++kept.generation;
    kept.desk = &desk;
    kept.path = std::move(path);
    kept.file = file;
    kept.storage = this;
    return id;
}

void NfsStorage::close(FileId file) {
    const auto index = static_cast<std::size_t>(file);
    STREAMSIM_CHECK(file >= 0 && index < files_.size() && files_[index].open, "a file that is closed was open");
    NfsFile& closed = files_[index];
    closed.open = false;
    if (closed.opening_again) return;  // that ends it
    close_on_server(*closed.desk, closed.file);
    free_files_.push_back(file);
}

void NfsStorage::close_on_server(NfsDesk& desk, const NfsOpenFile& file) {
    if (desk.node->version() != 4 || !desk.node->ready()) return;  // else the server forgets it by itself
    if (free_closes_ == nullptr) free_closes_ = &closes_.emplace_back();
    NfsCall& call = *std::exchange(free_closes_, free_closes_->next);
    call = {on_closed, this};
    if (NfsRequests::close(desk.node->pick(), call, file, loop_.now())) {
        desk.node->count_request();
        deliver_later();  // which flushes
    } else {
        call.next = std::exchange(free_closes_, &call);
    }
}

void NfsStorage::on_closed(void* self, NfsCall& call, const NfsReply&) {
    call.next = std::exchange(static_cast<NfsStorage*>(self)->free_closes_, &call);
}

void NfsStorage::cancel(Op& op) {
    if (op.backend == nullptr) {
        if (!(is_transfer(op) ? waiting_transfers_ : waiting_errands_).remove(op)) return;  // it is on the way
        settle(op, ECANCELED);
    } else if (is_transfer(op)) {
        end_transfer(*static_cast<NfsTransfer*>(op.backend), ECANCELED);
    } else {
        end_errand(*static_cast<NfsErrand*>(op.backend), ECANCELED);
    }
    deliver_later();
}

// ---- the turn

void NfsStorage::reap() {
    const Instant look = loop_.now();
    server_->wait_and_serve({});
    poll_times_.looked(look);
    go_on();
    deliver();
    if (shutdown_) advance_shutdown();
}

/// Lets openings and pieces take their next steps, and sends all that waits.
void NfsStorage::go_on() {
    const Instant now = loop_.now();
    for (NfsErrand& errand : errands_) {
        if (errand.opening.busy()) errand.opening.advance(now);
        if (errand.syncs && errand.op != nullptr && !errand.asked) ask_sync(errand);
    }
    for (NfsFile& file : files_) {
        if (file.opening_again) file.again->advance(now);
    }
    for (NfsDesk& desk : desks_) {
        pump(desk);
        desk.node->flush(now);
    }
}

void NfsStorage::tick() {
    const Instant now = loop_.now();
    for (NfsDesk& desk : desks_) desk.node->tick(now);
    const auto too_old = [&](const Op* op) { return op != nullptr && now - op->submitted_at >= timeout_; };
    for (NfsTransfer& work : transfers_) {
        if (too_old(work.op)) end_transfer(work, error_or_own_shortage(ETIMEDOUT));
    }
    for (NfsErrand& errand : errands_) {
        if (too_old(errand.op)) end_errand(errand, error_or_own_shortage(ETIMEDOUT));
    }
    expire(waiting_transfers_);
    expire(waiting_errands_);
    go_on();
    deliver_later();
}

void NfsStorage::expire(OpList& waiting) {
    const Instant now = loop_.now();
    OpList all = waiting.take();
    while (!all.empty()) {
        Op& op = all.pop();
        if (now - op.submitted_at >= timeout_) {
            settle(op, error_or_own_shortage(ETIMEDOUT));
        } else {
            waiting.push(op);
        }
    }
}

void NfsStorage::deliver_later() {
    if (std::exchange(deliver_set_, true)) return;
    loop_.defer({[](void* self) {
                     auto& storage = *static_cast<NfsStorage*>(self);
                     storage.deliver_set_ = false;
                     storage.go_on();
                     storage.deliver();
                     if (storage.shutdown_) storage.advance_shutdown();
                 },
                 this});
}

void NfsStorage::deliver() {
    OpList ops = done_.take();
    while (!ops.empty()) {
        Op& op = ops.pop();
        --outstanding_;
        loop_.release();
        op.done();  // the operation may be gone or submitted again afterwards
    }
}

std::vector<ServerTraffic> NfsStorage::traffic() const {
    std::vector<ServerTraffic> out;
    if (server_ == nullptr) return out;
    for (const auto& node : server_->nodes()) out.push_back(node->traffic());
    return out;
}

// ---- the end

void NfsStorage::shutdown(Callback done) {
    shutdown_ = done;
    loop_.hold();
    deliver_later();
}

void NfsStorage::advance_shutdown() {
    if (outstanding_ > 0 || deliver_set_ || timer_ == nullptr || poll_ == nullptr ||
        uv_is_closing(reinterpret_cast<uv_handle_t*>(poll_)) != 0)
        return;
    const Instant now = loop_.now();
    if (closing_until_ == Instant::never()) {
        closing_until_ = now + kGoodbye;
        for (std::size_t i = 0; i < files_.size(); ++i) {
            if (files_[i].open) close(static_cast<FileId>(i));
        }
        go_on();
    }
    const bool waits = std::any_of(desks_.begin(), desks_.end(), [](const NfsDesk& desk) {
        return desk.node->version() == 4 && desk.node->ready() && desk.node->outstanding() > 0;
    });
    if (!waits || now >= closing_until_) stop_watching();
}

void NfsStorage::stop_watching() {
    uv_close(reinterpret_cast<uv_handle_t*>(timer_),
             [](uv_handle_t* handle) { delete reinterpret_cast<uv_timer_t*>(handle); });
    timer_ = nullptr;
    uv_close(reinterpret_cast<uv_handle_t*>(poll_), [](uv_handle_t* handle) {
        auto* self = static_cast<NfsStorage*>(handle->data);
        delete reinterpret_cast<uv_poll_t*>(handle);
        self->poll_ = nullptr;
        self->loop_.remove_reaper(self);
        self->server_.reset();  // what it still had is answered now, and finds nobody
        self->loop_.release();
        self->shutdown_();  // may destroy us
    });
}

bool nfs_is_built_in() {
    return true;
}

Result<std::unique_ptr<Storage>> make_nfs_storage(EventLoop& loop,
                                                  uv_loop_s* uv,
                                                  const RemotePlace& place,
                                                  const std::string& directory,
                                                  const RemoteOptions& options) {
    RemotePlace resolved = place;
    if (auto known = resolve(resolved); !known) return known.error();
    auto server = std::make_unique<NfsServer>(std::move(resolved), directory, options);
    if (auto connected = server->connect(); !connected) return connected.error();
    auto storage = std::make_unique<NfsStorage>(loop, std::move(server), options);
    storage->watch(uv);
    return std::unique_ptr<Storage>(std::move(storage));
}

}  // namespace streamsim::storage
