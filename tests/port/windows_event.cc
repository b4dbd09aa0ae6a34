// windows_event PROGRAM.EXE close|break|interrupt: raises an event of the console in each process of that name,
// as Windows does where its window is closed. Exits 1 where there is no such process.
// clang-format off
#include <windows.h>
#include <tlhelp32.h>
// clang-format on

#include <cstdio>
#include <cstring>

namespace {

bool raise_in(DWORD id, DWORD event) {
    const HANDLE process =
        OpenProcess(PROCESS_CREATE_THREAD | PROCESS_QUERY_INFORMATION | PROCESS_VM_OPERATION, FALSE, id);
    if (process == nullptr) return false;
    // The system's own routine for these events, which is at the same address in each process.
    const auto routine = reinterpret_cast<LPTHREAD_START_ROUTINE>(
        reinterpret_cast<void*>(GetProcAddress(GetModuleHandleA("kernelbase.dll"), "CtrlRoutine")));
    const HANDLE thread =
        CreateRemoteThread(process, nullptr, 0, routine, reinterpret_cast<void*>(ULONG_PTR{event}), 0, nullptr);
    if (thread != nullptr) CloseHandle(thread);
    CloseHandle(process);
    return thread != nullptr;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    DWORD event = CTRL_CLOSE_EVENT;
    if (std::strcmp(argv[2], "break") == 0) event = CTRL_BREAK_EVENT;
    if (std::strcmp(argv[2], "interrupt") == 0) event = CTRL_C_EVENT;
    int raised = 0;
    const HANDLE all = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
    PROCESSENTRY32 entry{};
    entry.dwSize = sizeof entry;
    for (BOOL more = Process32First(all, &entry); more; more = Process32Next(all, &entry)) {
        if (std::strcmp(entry.szExeFile, argv[1]) == 0 && raise_in(entry.th32ProcessID, event)) ++raised;
    }
    CloseHandle(all);
    std::printf("%d\n", raised);
    return raised > 0 ? 0 : 1;
}
