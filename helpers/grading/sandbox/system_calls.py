"""What a child may ask the kernel: a seccomp filter, at each level of isolation.

It allows what the course's notebooks and its judge ask for, and of each kind what other
versions of Python and the C library ask for instead: `python -m
tests.grading.recorded_calls` records it. What it leaves out reaches beyond the child's
own memory and files, or takes memory that no process shows: new namespaces, sessions
and sockets, locks, leases and watches on files, priorities and limits of others, memory
that outlives a process, descriptors that are under way, pages that pipes hold, keys,
and whatever a kernel may learn. Refused is what is not named here.
"""

import ctypes
import errno
import platform
import struct

# names, then their numbers on x86_64 and on aarch64; - where it has none
ALLOWED = """
brk 12 214, madvise 28 233, mmap 9 222, mprotect 10 226, mremap 25 216,
msync 26 227, munmap 11 215,

access 21 -, chdir 80 49, chmod 90 -, close 3 57, close_range 436 436, creat 85 -,
dup 32 23, dup2 33 -, dup3 292 24, faccessat 269 48, faccessat2 439 439,
fadvise64 221 223, fallocate 285 47, fchdir 81 50, fchmod 91 52, fchmodat 268 53,
fcntl 72 25, fdatasync 75 83, fgetxattr 193 10, flistxattr 196 13, fstat 5 80,
fstatfs 138 44, fsync 74 82, ftruncate 77 46, getcwd 79 17,
getdents 78 -, getdents64 217 61, getxattr 191 8, ioctl 16 29, lgetxattr 192 9,
link 86 -, linkat 265 37, listxattr 194 11, llistxattr 195 12, lseek 8 62, lstat 6 -,
mkdir 83 -, mkdirat 258 34, newfstatat 262 79, open 2 -, openat 257 56, pipe 22 -,
pipe2 293 59, pread64 17 67, preadv 295 69, preadv2 327 286, pwrite64 18 68,
pwritev 296 70, pwritev2 328 287, read 0 63, readlink 89 -, readlinkat 267 78,
readv 19 65, rename 82 -, renameat 264 38, renameat2 316 276, rmdir 84 -, stat 4 -,
statfs 137 43, statx 332 291, symlink 88 -, symlinkat 266 36, truncate 76 45,
umask 95 166, unlink 87 -, unlinkat 263 35, write 1 64, writev 20 66,

arch_prctl 158 -, clone 56 220, execve 59 221, exit 60 93, exit_group 231 94,
fork 57 -, futex 202 98, get_robust_list 274 100, getcpu 309 168, getegid 108 177,
geteuid 107 175, getgid 104 176, getgroups 115 158, getpgid 121 155, getpgrp 111 -,
getpid 39 172, getppid 110 173, getpriority 140 141, getresgid 120 150,
getresuid 118 148, getrlimit 97 163, getrusage 98 165, getsid 124 156,
gettid 186 178, getuid 102 174, kill 62 129, prctl 157 167, prlimit64 302 261,
rseq 334 293, sched_get_priority_max 146 125, sched_get_priority_min 147 126,
sched_getaffinity 204 123, sched_getparam 143 121, sched_getscheduler 145 120,
sched_yield 24 124, set_robust_list 273 99, set_tid_address 218 96, setpgid 109 154,
setrlimit 160 164, sysinfo 99 179, tgkill 234 131, times 100 153, tkill 200 130,
uname 63 160, vfork 58 -, wait4 61 260, waitid 247 95,

alarm 37 -, clock_getres 229 114, clock_gettime 228 113, clock_nanosleep 230 115,
getitimer 36 102, gettimeofday 96 169, nanosleep 35 101, pause 34 -,
restart_syscall 219 128, rt_sigaction 13 134, rt_sigpending 127 136,
rt_sigprocmask 14 135, rt_sigreturn 15 139, rt_sigsuspend 130 133,
rt_sigtimedwait 128 137, setitimer 38 103, sigaltstack 131 132, time 201 -,

epoll_create 213 -, epoll_create1 291 20, epoll_ctl 233 21, epoll_pwait 281 22,
epoll_wait 232 -, getpeername 52 205, getrandom 318 278, getsockname 51 204,
getsockopt 55 209, poll 7 -, ppoll 271 73, pselect6 270 72, recvfrom 45 207,
recvmsg 47 212, select 23 -, sendto 44 206, shutdown 48 210, socketpair 53 199
"""
# from this number on, which all machines share, libraries try a call and fall back to
# an older one where the kernel does not know it; clone3's flags are where no filter
# sees them
NEWEST = 424
MACHINES = {"x86_64": 0, "aarch64": 1}  # the column of its numbers
ARCHITECTURE = 0xC000003E, 0xC00000B7
MEMFD_CREATE, MFD_ALLOW_SEALING = (319, 279), 2
F_ADD_SEALS, F_SEAL_SHRINK = 1033, 2
X32 = 0x40000000  # the bit of x86_64's other numbers

# of these calls, for each argument that is looked at: its index, the bits of it that
# are asked for, and what they may be
OF_THREADS = 0x17D4FFF  # clone's flags of fork, threads and vfork; others: namespaces
SHARED_OF_NO_FILE, HUGE = 0x21, 0x40000  # of mmap: no process shows it; the machine's
WHOLE = 0xFFFFFFFF
LIMITS = [0, 1, 2, 3, *range(5, 16)]  # all but RLIMIT_CORE, which `rlimits` sets
BY_ARGUMENT = {
    "clone": [(0, WHOLE & ~OF_THREADS, [0])],
    "mmap": [(3, SHARED_OF_NO_FILE | HUGE, [0x00, 0x01, 0x20])],
    # normal, random, sequential, willneed, dontneed, free, (no)hugepage, (do|dont)dump,
    # populate, guard: merged pages would tell who has the same ones
    "madvise": [(2, WHOLE, [0, 1, 2, 3, 4, 8, 14, 15, 16, 17, 22, 23, 102, 103])],
    "prctl": [(0, WHOLE, [15, 16])],  # the name of a thread
    "prlimit64": [(0, WHOLE, [0]), (1, WHOLE, LIMITS)],  # of the process that asks
    "setrlimit": [(0, WHOLE, LIMITS)],
    "fcntl": [(1, WHOLE, [0, 1, 2, 3, 4, 1030, 1032])],  # copies, flags, a pipe's size
    # is it a terminal, how wide; how much is there; to wait or not; to close or not
    "ioctl": [(1, WHOLE, [0x5401, 0x802C542A, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451])],
    "socketpair": [(0, WHOLE, [1])],  # local
    # no flag, as would tell who has read a file; nor that nobody needs it any more
    "preadv2": [(5, WHOLE, [0])],
    "pwritev2": [(5, WHOLE, [0])],
    "fadvise64": [(3, WHOLE, [0, 1, 2, 3, 5])],
}

# struct seccomp_data, and the words of classic BPF
NUMBER, KIND, FIRST_ARGUMENT = 0, 4, 16
LOAD, AND, EQUAL, AT_LEAST, RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
ALLOW, KILL, ERROR = 0x7FFF0000, 0x80000000, 0x00050000
REFUSED, UNKNOWN = ERROR | errno.EPERM, ERROR | errno.ENOSYS
PR_SET_SECCOMP, FILTER = 22, 2


def refuse():
    """Refuse all other calls to this process and all that it starts, from now on."""
    rules = filter_of(column())
    text = ctypes.create_string_buffer(rules, len(rules))
    program = struct.pack("HP", len(rules) // 8, ctypes.addressof(text))
    if control(PR_SET_SECCOMP, FILTER, program):
        raise OSError(ctypes.get_errno(), "the filter of system calls is refused")


def file_in_memory() -> int:
    """The descriptor of a file that has no name, and does not become shorter; not every
    Python offers it.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    found = libc.syscall(MEMFD_CREATE[column()], b"notes", MFD_ALLOW_SEALING)
    if found < 0 or libc.fcntl(found, F_ADD_SEALS, F_SEAL_SHRINK):
        raise OSError(ctypes.get_errno(), "there is no file in memory")
    return found


def require():
    """Ends the program with the remedy where there can be no such filter."""
    column()
    control(PR_SET_SECCOMP, FILTER, None)
    if ctypes.get_errno() != errno.EFAULT:  # EINVAL: the kernel knows no filters
        raise SystemExit(
            "this kernel filters no system calls (CONFIG_SECCOMP_FILTER): "
            "submissions are not run here"
        )


def control(*arguments):
    return ctypes.CDLL(None, use_errno=True).prctl(*arguments, 0, 0)


def column() -> int:
    """Which numbers this machine's calls have."""
    machine = platform.machine()
    if machine not in MACHINES:
        known = " or ".join(MACHINES)
        raise SystemExit(f"submissions are run on {known}, and this is {machine}")
    return MACHINES[machine]


def allowed(machine) -> dict:
    """The numbers of the calls that a machine has, by name."""
    rows = (row.split() for row in ALLOWED.split(","))
    found = {name: numbers[machine] for name, *numbers in rows}
    return {name: int(number) for name, number in found.items() if number != "-"}


def filter_of(machine) -> bytes:
    """The program that the kernel asks about each call."""
    numbers = allowed(machine)
    rules = [
        (LOAD, 0, 0, KIND),
        (EQUAL, 1, 0, ARCHITECTURE[machine]),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
        (AT_LEAST, 0, 1, X32),
        (RETURN, 0, 0, KILL),
    ]
    for name in [it for it in numbers if it not in BY_ARGUMENT]:
        rules += [(EQUAL, 0, 1, numbers[name]), (RETURN, 0, 0, ALLOW)]
    for name, arguments in BY_ARGUMENT.items():
        asked = []
        for index, bits, values in arguments:
            asked += [(LOAD, 0, 0, FIRST_ARGUMENT + 8 * index), (AND, 0, 0, bits)]
            asked += [(EQUAL, len(values) - n, 0, it) for n, it in enumerate(values)]
            asked += [(RETURN, 0, 0, REFUSED)]
        asked += [(RETURN, 0, 0, ALLOW)]
        rules += [(EQUAL, 0, len(asked), numbers[name]), *asked]
    rules += [(AT_LEAST, 0, 1, NEWEST), (RETURN, 0, 0, UNKNOWN)]
    rules += [(RETURN, 0, 0, REFUSED)]
    return b"".join(struct.pack("HBBI", *rule) for rule in rules)
