"""What a child may not ask the kernel: a seccomp filter, at each level of isolation.

It refuses calls that affect more than the child's own memory and files: the keys of the
user who grades, limits of other processes, memory that no limit counts or that outlives
the child, what the machine has a number of, leases on its files, new namespaces and
sessions, to each of which Linux may give as much of a core. A call that is not named
here is allowed.
"""

import ctypes
import errno
import platform
import struct

# names, then their numbers on x86_64 and on aarch64; 9999 where it has none
REFUSED = """
add_key 248 217             keyctl 250 219               request_key 249 218
shmget 29 194               semget 64 190                msgget 68 186
mq_open 240 180             memfd_create 319 279         memfd_secret 447 447
unshare 272 97              setns 308 268                pivot_root 155 41
mount 165 40                umount2 166 39               mount_setattr 442 442
open_tree 428 428           move_mount 429 429           fsopen 430 430
fsconfig 431 431            fsmount 432 432              fspick 433 433
ptrace 101 117              process_vm_readv 310 270     process_vm_writev 311 271
pidfd_getfd 438 438         process_madvise 440 440      migrate_pages 256 238
move_pages 279 239          perf_event_open 298 241      bpf 321 280
userfaultfd 323 282         io_uring_setup 425 425       io_uring_enter 426 426
io_uring_register 427 427   setpriority 141 140          ioprio_set 251 30
sched_setscheduler 144 119  sched_setparam 142 118       sched_setattr 314 274
sched_setaffinity 203 122  io_setup 206 0               fanotify_init 300 262
inotify_init 253 9999       inotify_init1 294 26         setsid 112 157
"""
MACHINES = {"x86_64": 0, "aarch64": 1}  # the column of its numbers
ARCHITECTURE = 0xC000003E, 0xC00000B7
CLONE3 = 435
MEMFD_CREATE = 319, 279
CLONE_NEW = 0x7E020000  # namespaces: user, process, network and the others
SHARED_MEMORY = 0x21  # MAP_SHARED of no file: it stays where no process shows it
# who opens the file elsewhere would wait; and locks that have no process as an owner:
# all processes of the machine see those, and each nursery would count them
LEASE, LOCK, LOCK_LATER = 1024, 37, 38  # F_SETLEASE, F_OFD_SETLK, F_OFD_SETLKW
X32 = 0x40000000  # the bit of x86_64's other numbers

# struct seccomp_data, and the words of classic BPF
NUMBER, KIND, FIRST_ARGUMENT = 0, 4, 16
LOAD, AND, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
ALLOW, KILL, ERROR = 0x7FFF0000, 0x80000000, 0x00050000
PR_SET_SECCOMP, FILTER = 22, 2

# local sockets and netlink's: what is left of the Internet's outlives the child, and a
# virtual machine has others
FAMILIES = (EQUAL, 2, 0, 1), (EQUAL, 1, 0, 16)
COMMANDS = (EQUAL, 2, 0, LEASE), (EQUAL, 1, 0, LOCK), (EQUAL, 0, 1, LOCK_LATER)
# calls that are refused for one argument: their numbers, its index, and what is asked
# of it, after which comes the refusal, and behind that the call is allowed
BY_ARGUMENT = {
    "clone": ((56, 220), 0, [(ANY_BIT, 0, 1, CLONE_NEW)]),
    "prlimit64": ((302, 261), 0, [(EQUAL, 1, 0, 0)]),  # of the process that asks
    "socket": ((41, 198), 0, FAMILIES),
    "socketpair": ((53, 199), 0, FAMILIES),
    "fcntl": ((72, 25), 1, COMMANDS),
    "mmap": ((9, 222), 3, [(AND, 0, 0, SHARED_MEMORY), (EQUAL, 0, 1, SHARED_MEMORY)]),
}


def refuse():
    """Refuse these calls to this process and all that it starts, from now on."""
    rules = filter_of(column())
    text = ctypes.create_string_buffer(rules, len(rules))
    program = struct.pack("HP", len(rules) // 8, ctypes.addressof(text))
    if control(PR_SET_SECCOMP, FILTER, program):
        raise OSError(ctypes.get_errno(), "the filter of system calls is refused")


def file_in_memory() -> int:
    """The descriptor of a file that has no name; not every Python offers it."""
    libc = ctypes.CDLL(None, use_errno=True)
    found = libc.syscall(MEMFD_CREATE[column()], b"notes", 0)
    if found < 0:
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


def filter_of(machine) -> bytes:
    """The program that the kernel asks about each call."""
    rows = [line.split() for line in REFUSED.strip().splitlines()]
    words = [word for row in rows for word in row]
    numbers = [int(it) for it in words[1 + machine :: 3]]
    refused, unknown = ERROR | errno.EPERM, ERROR | errno.ENOSYS
    rules = [
        (LOAD, 0, 0, KIND),
        (EQUAL, 1, 0, ARCHITECTURE[machine]),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
        (AT_LEAST, 0, 1, X32),
        (RETURN, 0, 0, KILL),
    ]
    for number in numbers:
        rules += [(EQUAL, 0, 1, number), (RETURN, 0, 0, refused)]
    # its flags are in memory, where no filter sees them; the C library then asks clone
    rules += [(EQUAL, 0, 1, CLONE3), (RETURN, 0, 0, unknown)]
    for numbers, index, asked in BY_ARGUMENT.values():
        argument = (LOAD, 0, 0, FIRST_ARGUMENT + 8 * index)
        answers = (RETURN, 0, 0, refused), (RETURN, 0, 0, ALLOW)
        rules += [(EQUAL, 0, len(asked) + 3, numbers[machine])]
        rules += [argument, *asked, *answers]
    rules += [(RETURN, 0, 0, ALLOW)]
    return b"".join(struct.pack("HBBI", *rule) for rule in rules)
