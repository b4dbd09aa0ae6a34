// The numbers of a model's document, to be listed and changed one by one: for a fit, and to see what each
// decides.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "streamsim/cluster_model.h"

namespace streamsim::sim {

struct ModelNumber {
    std::string pointer;  // "/node/cores"
    std::string value;    // as the document has it
    std::string basis;
    std::string low;  // of its interval; empty: none
    std::string high;
};

/// Every number with a basis, in the order of the document. Errors: as read_model_document.
Result<std::vector<ModelNumber>> model_numbers(std::string_view text, const std::string& source);

/// A number of a document, set to a value or multiplied.
struct ModelChange {
    std::string pointer;
    bool multiply = false;
    double by = 1;
};

/// The model of the document with these changes. Counts, sizes and times stay whole: a factor changes a
/// count by one at least, if it is not 0. Low and high of a changed number change in proportion, as far as the
/// bounds of the document allow. Errors: bad input for a pointer without a number, and for a model that is none
/// any more.
Result<ClusterModel> changed_model(std::string_view text,
                                   const std::string& source,
                                   const std::vector<ModelChange>& changes);

/// The same as a document. Not read: its model may be none.
Result<std::string> changed_document(std::string_view text,
                                     const std::string& source,
                                     const std::vector<ModelChange>& changes);

/// The document has whole numbers only at this pointer: a count or a size. False, too, where there is no
/// number.
bool is_whole_at(std::string_view text, const std::string& source, const std::string& pointer);

/// The document has a time at this pointer, a text with its unit. False, too, where there is no number.
bool is_time_at(std::string_view text, const std::string& source, const std::string& pointer);

/// The document takes a size at this pointer, such as "1GiB". False, too, where there is no number.
bool is_size_at(std::string_view text, const std::string& source, const std::string& pointer);

/// The number at a pointer: nanoseconds, bytes or as it is. Errors: bad input where there is none.
Result<double> number_at(std::string_view text, const std::string& source, const std::string& pointer);

}  // namespace streamsim::sim
