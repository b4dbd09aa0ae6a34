// The header of a TIFF file.
#include "fuzz/image_checks.h"

STREAMSIM_FUZZ(tiff_header) {
    streamsim::fuzz::check_image(input, streamsim::media::ImageKind::tiff, "frame.0001.tif");
}
