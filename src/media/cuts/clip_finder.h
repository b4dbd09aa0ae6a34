// Finds the clips that an edit list names below a directory; reads listings only. Inside media/ only.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "media/cuts/edit_list.h"
#include "streamsim/byte_store.h"

namespace streamsim::media {

/// A clip that is not indexed yet.
struct FoundClip {
    std::string path;   // for index_clip
    std::string name;   // below TARGET, as shown
    bool ours = false;  // made by prepare
};

class ClipFinder {
public:
    /// Lists `target` and what is below it, `depth_max` levels deep; or takes it alone when it is a clip.
    /// Hidden entries, unfinished media and links inside linked directories are passed over. Errors:
    /// environment from the store.
    static Result<ClipFinder> list_below(ByteStore& store, const std::string& target, int depth_max);

    struct Answer {
        std::vector<std::size_t> clips;  // the best ones, in clips(): one, none, or equals
        std::string note;                // how the clip was found, unless by its exact name
    };
    /// By file, clip name and reel, in this order. More components of a path that agree are better than fewer,
    /// a whole name better than one without its extension.
    Answer find(const EditMedia& media) const;

    const std::vector<FoundClip>& clips() const { return clips_; }
    /// True when `target` itself names the only clip: a file, a frame, a pattern, or a directory that is one
    /// sequence.
    bool target_is_clip() const;

private:
    struct Key {
        std::size_t clip = 0;
        std::vector<std::string> parents;  // directories above, from TARGET's own on
        std::string base;                  // in its original case
        bool linked = false;
    };
    struct Folder {
        std::string path;
        std::vector<std::string> parts;
        int depth = 0;
        bool linked = false;
        bool ours = false;
    };
    class Search;

    Result<void> add_folder(ByteStore& store,
                            const Folder& folder,
                            const std::string& only,
                            std::vector<Folder>& below);
    void add_container(const Folder& folder, const std::string& name);
    void add_sequences(const Folder& folder, const std::vector<std::string>& images, const std::string& only);

    std::string target_;
    bool named_ = false;  // the target is no directory
    int depth_max_ = 0;
    std::vector<FoundClip> clips_;
    // By lower case. Names: whole names of containers and of the directories of sequences; stems: without
    // extension, or the prefix of a sequence; frames: prefix and suffix of a sequence.
    std::multimap<std::string, Key> names_;
    std::multimap<std::string, Key> stems_;
    std::multimap<std::string, Key> frames_;
};

}  // namespace streamsim::media
