# Makes a source file of the style, the script and the chart library that every HTML report carries:
# -DSTYLE=... -DSCRIPT=... -DLIVE=... -DLIBRARY=... -DOUTPUT=...
set(text "#include \"report/html/html_page.h\"\n\nnamespace streamsim::report::html {\n")
foreach(each "page_style=${STYLE}" "page_script=${SCRIPT}" "live_script=${LIVE}" "chart_library=${LIBRARY}")
    string(REGEX MATCH "^([a-z_]+)=(.*)$" matched "${each}")
    set(name ${CMAKE_MATCH_1})
    set(file ${CMAKE_MATCH_2})
    file(READ "${file}" content)
    # It would end the element that it stands in, or the literal.
    foreach(forbidden "</script" "</style" "<!--" ")streamsim_page\"")
        string(FIND "${content}" "${forbidden}" found)
        if(NOT found EQUAL -1)
            message(FATAL_ERROR "${file}: has ${forbidden} at byte ${found}, which cannot stand in a page")
        endif()
    endforeach()
    string(APPEND text "\nstd::string_view ${name}() {\n    return R\"streamsim_page(${content})streamsim_page\";\n}\n")
endforeach()
file(WRITE "${OUTPUT}" "${text}\n}  // namespace streamsim::report::html\n")
