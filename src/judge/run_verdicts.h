// Verdicts that do not follow from missed frames: of meters, of several computers, of a scenario's expectation,
// and the statements that a run makes about a storage.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "streamsim/run_result.h"
#include "streamsim/scenario.h"

namespace streamsim::judge {

/// The verdict of a run that was interrupted in preparation.
Verdict interrupted_before_play();
/// The verdict of a computer that no stream was assigned to: there were fewer streams than seats.
Verdict nothing_assigned();
/// A passed verdict fails: a file that vanished while it was written was not recorded.
void judge_vanished_recording(const std::string& file, RunResult& result);
/// Removes the limit `storage` from verdict and causes of a run that says nothing about a storage
/// (judges_storage).
void withhold_storage(RunResult& result);

/// The meter did nothing, since it would have begun when play had ended.
bool never_ran(const MeterResult& meter);
/// Fails the verdict where operations, opens before play or syncs at the end failed, also operations that ended
/// after the end, or a meter had no answer at all or never ran: the load beside the streams was not the one
/// that was asked for. The limit is the side that most of the errors speak for (limit_of_error); a meter that
/// never ran speaks for none. A run of meters alone passes where none failed and at least one operation was
/// done. REQUIRES: result.verdict is the verdict on the streams.
void judge_meters(RunResult& result);

/// "seat 2", "seats 4 to 7", "seats 1, 5 and 9", "seats 0, 4, 8, 12 and 6 more". REQUIRES: ascending, not
/// empty.
std::string seat_list(const std::vector<std::uint32_t>& seats);
/// "seat 2 (host h3)", "seats 4 to 5 (host h3)"; "rank 2" for a computer whose seats are not known, or that has
/// none.
std::string seat_name(const SeatResult& seat);

/// The seat began long after the others: it did not play together with them.
bool began_late(const SeatResult& seat);
/// Fails the verdict of a seat that began late.
void judge_start(SeatResult& seat);
/// The verdict on a run over several computers: passes when every seat passes and none has vanished. Names the
/// seats that do not. The limit is the one that cost most frames, a stall as many as it lasted; where none was
/// missed, the one that all seats that failed agree on. REQUIRES: the seats, streams and meters of the result.
Verdict verdict_of_seats(const RunResult& result);
/// In a run of meters alone, whose seats did not vanish and began together: the verdict on all meters together,
/// where it passes. Else the verdict of the seats, which names them, stays, with the limit of all. REQUIRES:
/// result.verdict is verdict_of_seats().
void judge_meters_of_seats(RunResult& result);

/// "seat 1 (host h3) reads tmpfs on /dev/shm, and the others nfs4 on /mnt/x"; empty: all seats see the one
/// target of the run on file systems of one type, or it has several targets.
std::string mounts_apart(const std::vector<SeatResult>& seats);
/// Some seats read a disk of their own and others a server, on the one target of the run.
bool read_several_storages(const std::vector<SeatResult>& seats);
/// Adds mounts_apart() to the notices, and fails the verdict where the seats read several storages.
void judge_mounts(RunResult& result);

/// A sentence for each figure that is not as expected; empty: all are.
std::vector<std::string> surprises(const ScenarioExpectation& expected, const RunResult& result);

/// Media that was written so recently may still be in the memory of the server.
inline constexpr std::int64_t kServerCacheSeconds = 3600;

/// Frames of real storage may have come from a server's cache: by how the media were read, and by their age.
bool server_cache_may_be_warm(const MediaFacts& media);

}  // namespace streamsim::judge
