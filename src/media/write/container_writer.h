// One video track in a file of its own: QuickTime, MP4 or MXF OP1a, by libavformat. Inside media/ only.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "media/frames/frame_maker.h"
#include "streamsim/byte_store.h"
#include "streamsim/media.h"

namespace streamsim::media {

/// Writes frames one after the other: in QuickTime and MP4 sample data first and the movie header last, as
/// cameras do. One thread. The sink is the caller's, and its close() too.
class ContainerWriter {
public:
    /// Begins the file of the container that the format names. Errors: environment, naming `file`; bad input
    /// when the container cannot hold the codec or the rate.
    static Result<std::unique_ptr<ContainerWriter>> create(ByteSink& sink,
                                                           const MediaFormat& format,
                                                           const FrameMaker& maker,
                                                           const std::string& file);
    virtual ~ContainerWriter() = default;
    /// The next frame as they are stored; it is shown at maker.display() times rate.den / rate.num s, exactly.
    virtual Result<void> add(std::span<std::byte> frame) = 0;
    /// Writes the trailer of the file. REQUIRES: no frame is added afterwards.
    virtual Result<void> finish() = 0;
};

}  // namespace streamsim::media
