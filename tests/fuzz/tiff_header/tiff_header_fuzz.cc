// The header of a TIFF file, and the rate in that of a CinemaDNG file.
#include "fuzz/image_checks.h"

STREAMSIM_FUZZ(tiff_header) {
    streamsim::fuzz::check_image(input, streamsim::media::ImageKind::tiff, "frame.0001.tif");
    streamsim::fuzz::check_image(input, streamsim::media::ImageKind::by_size, "frame.0001.dng");
}
