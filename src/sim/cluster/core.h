// The machine behind Cluster: the seats, the nodes, and the way of every job through them (cluster.h draws it).
// core.cc has the way of opens, reads and frames; core_blocks.cc how blocks come into a cache and what is read
// ahead; core_writes.cc what changes files and names; core_faults.cc what goes wrong and the books.
//
// Reading ahead, as the storage does it. Concurrency and streaming: a file that is read front to back, give or
// take what is in flight, has its next bytes fetched to the model's distance; a jump ends it, until two reads
// followed each other again. File-name prefetch: when the reading of two files of a numbered sequence began one
// after the other, the next `filename_files` files are fetched whole; that they were opened says nothing, a
// player opens names long before it reads them. A storage tells readers apart by connection and place; here by
// stream.
//
// The coordinator of a file owns its locks: one server at the model's file_bytes_per_s, fair between seats,
// made when the file is first read. Assumption: containers only; a file of a sequence is read by one reader at
// a time.
#pragma once

#include <deque>
#include <vector>

#include "sim/calendar.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/files.h"
#include "sim/cluster/job.h"
#include "sim/cluster/node.h"
#include "sim/cluster/seat.h"

namespace streamsim::sim {

class ClusterCore final : public Reaper, public JobOwner {
public:
    ClusterCore(EventLoop& loop, ClusterOptions options);
    ~ClusterCore() override;

    void reap() override;
    void advance(Job& job) override;
    bool wanted(Job& job, Instant complete) override;

    // For SimStorage and SimDecoder.
    void open(OpenOp& op, SimStorage& storage);
    void read(ReadOp& op, SimStorage& storage);
    void write(WriteOp& op, SimStorage& storage);
    void sync(SyncOp& op, SimStorage& storage);
    void perform(PathOp& op, SimStorage& storage);
    void add_file(const char* path, std::uint64_t bytes) { files_.add(path, bytes); }
    void close(FileId file);
    void cancel(Op& op);
    void decode(DecodeOp& op, std::uint32_t seat, std::uint32_t flow, Duration cost);
    std::uint32_t add_decoder(std::uint32_t seat);
    Calendar& calendar() { return calendar_; }
    const ClusterModel& model() const { return options_.model; }

    std::vector<PartStats> stats(Instant from, Instant to) const;
    void at(Instant when, const ClusterFault& fault);

private:
    using Stage = Job::Stage;
    static constexpr std::uint32_t kNone = UINT32_MAX;
    static constexpr std::uint64_t kWrites = std::uint64_t{1} << 32;

    /// A file that is open, and how it is being read.
    struct Handle {
        std::uint32_t file = kNone;  // kNone: not open
        std::uint32_t opening = 0;   // how often this place was used
        std::uint32_t node = kNone;  // that read ahead for it
        std::uint32_t in_order = 0;  // reads since the last jump
        bool was_read = false;
        std::uint64_t end = 0;             // of what was read
        std::uint64_t ahead = 0;           // the first block that was not asked for
        std::uint32_t small_in_order = 0;  // small reads that followed each other
        std::uint32_t jumps = 0;           // small reads that did not, since the last that was no small one
        std::uint64_t small_end = 0;       // of the last small read
        std::uint64_t written_end = 0;     // of the last write
    };

    /// A reader of a sequence.
    struct Follower {
        std::uint64_t frame = 0;
        std::uint64_t fetched_to = 0;  // frames before it were asked for
        std::uint32_t node = kNone;
        bool follows = false;
    };

    /// A fault that was set; in place until the end.
    struct Planned {
        ClusterCore* core = nullptr;
        ClusterFault fault;
        bool slows = false;  // a link, now
        void strike() { core->strike(*this); }
        void end() { core->end(*this); }
    };

    Job& begin(Op& op, Job::Kind kind, SimStorage& storage);
    void delay(Job& job, Stage stage, Duration time);
    void advance_fetch(Job& job);

    // The way of an open or a read, in its order.
    void request(Job& job);
    void send_out(Job& job);
    void set_out(Job& job);
    void reach_node(Job& job);
    void take_request(Job& job);
    void at_file(Job& job);
    void look_up(Job& job);
    void answer(Job& job);
    void come_back(Job& job);
    void reach_port(Job& job);
    void leave_port(Job& job);
    void reach_seat(Job& job);
    void reach_link(Job& job);
    void copy(Job& job);
    void finish(Job& job);
    void fail_over(Job& job);
    bool follows(Job& job, FileId file);
    void deliver();
    FileId open_handle(const Job& job);

    // Blocks.
    AccessStrategy strategy_of(const SimFile& file) const;
    std::uint64_t readahead_of(const SimFile& file) const;
    void read_ahead(const Job& job);
    void follow_names(const Job& job);
    void fetch_ahead(const Job& job, std::uint32_t file, std::uint64_t block);
    void fetch(const Job& for_whom, std::uint32_t file, std::uint32_t block, bool paged);
    bool by_pages(const Job& job) const;
    void track_small(const Job& job);
    bool has_page(Node& node, std::uint32_t file, std::uint32_t page, BlockCache& cache) const;
    std::uint64_t unit_of(const Job& job) const {
        return job.paged ? options_.model.page_bytes : options_.model.block_bytes;
    }
    static std::uint64_t key_of(const Job& job, std::uint32_t number) {
        return FileTable::key(job.file, number) | (job.paged ? BlockCache::kPage : 0);
    }
    BlockPlace place_of(const Job& job) const;
    void cache(Node& node, std::uint64_t key);
    Station& coordinator_of(const Job& job, double bytes_per_s);

    // What writes and changes names.
    void send_data(Job& job);
    void leave_link(Job& job);
    void take_name(Job& job);
    void take_line(Job& job);
    void do_name(Job& job);
    void keep(Job& job);
    void keep_waiting(std::uint32_t node);
    void enter_journal(Job& job);
    void kept(Job& job);
    void write_through(Job& job);
    void remember(const Job& job);
    void destage(std::uint32_t node);
    bool begin_destage(std::uint32_t node, std::uint64_t bytes, std::uint64_t pages);
    void to_drive_with(Job& job, std::uint32_t ring);
    void advance_destage(Job& job);
    std::uint64_t protected_bytes(std::uint64_t bytes) const;
    std::uint64_t unit_of_write() const;
    void to_drive(Job& job);
    void to_live_drive(Job& job, std::uint32_t ring);
    void rebuild(Job& job, const BlockPlace& place);
    std::uint32_t live_after(std::uint32_t ring) const;
    Drive& drive_at(std::uint32_t ring);
    void fail_fetch(Job& job);
    void leave_drive(Job& job);
    void block_came(Job& job);

    void strike(Planned& planned);
    void end(Planned& planned);
    void kill(const std::vector<Drive*>& drives);
    void lose_node(std::uint32_t node, Duration until_back);
    void set_links(const ClusterFault& fault);
    template <typename Hits>
    double least_factor(Hits hits) const;
    void add_seat_stats(std::vector<PartStats>& all, std::uint32_t seat, Instant from, Instant to) const;
    void add_node_stats(std::vector<PartStats>& all, std::uint32_t node, Instant from, Instant to) const;

    EventLoop& loop_;
    const ClusterOptions options_;
    Calendar calendar_;
    JobPool jobs_;
    FileTable files_;
    std::deque<Seat> seats_;
    std::deque<Node> nodes_;
    std::vector<Handle> handles_;
    std::vector<FileId> free_handles_;
    FlatIndex followers_by_stream_;
    std::vector<Follower> followers_;
    FlatIndex coordinators_by_file_;
    std::deque<Station> coordinators_;
    std::vector<std::uint64_t> coordinated_;  // the file of each; and kWrites
    std::deque<Planned> planned_;
    JobQueue finished_;
    const std::uint64_t seed_;
    bool reaping_ = false;
};

}  // namespace streamsim::sim
