"""Fathom's library for Python: a recording's contexts, points resolved by a path map, and a recording of this process itself.

It calls libfathom.so.1 (fathom.h) by ctypes. Functions raise Error with the library's sentence. One object is used by one thread at a time.
"""

import collections
import ctypes
import os

__all__ = ["Error", "Frame", "Context", "Path", "Source", "Answer", "version", "contexts", "Resolver", "Recording"]

_lib = ctypes.CDLL("libfathom.so.1")
_libc = ctypes.CDLL(None, use_errno=True)

CERTAINTIES = ("proved", "inferred", "unknown")
NOVELTIES = ("seen", "never seen", "not told")
LEVELS = ("debug", "note", "warning")

# As in the headers, which say what they mean. address, of a context's frame: of the function's entry; of an answer's: of the place in it.
Frame = collections.namedtuple("Frame", "function image address")
Context = collections.namedtuple("Context", "pid tid time weight certainty probability frames")
Path = collections.namedtuple("Path", "probability frames sources")  # frames: from the stack's root inwards; sources: of each, if asked for
Source = collections.namedtuple("Source", "function file line")  # of a frame: the innermost inlined function first, its own last
Answer = collections.namedtuple("Answer", "certainty novelty reason height least most paths")


class Error(OSError):
    """What the library says that failed, with its errno."""


class _Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("text", ctypes.c_char * 512)]


class _Frame(ctypes.Structure):
    _fields_ = [("function", ctypes.c_char_p), ("image", ctypes.c_char_p), ("address", ctypes.c_uint64)]


class _Context(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_uint32), ("tid", ctypes.c_uint32), ("time", ctypes.c_uint64), ("weight", ctypes.c_uint64),
                ("certainty", ctypes.c_int), ("probability", ctypes.c_double), ("depth", ctypes.c_size_t),
                ("frames", ctypes.POINTER(_Frame)), ("path_count", ctypes.c_uint), ("walk", ctypes.c_void_p)]


class _Point(ctypes.Structure):
    _fields_ = [("pc", ctypes.c_uint64), ("sp", ctypes.c_uint64), ("bp", ctypes.c_uint64)]


class _Source(ctypes.Structure):
    _fields_ = [("function", ctypes.c_char_p), ("file", ctypes.c_char_p), ("line", ctypes.c_uint32)]


class _Mapping(ctypes.Structure):
    _fields_ = [("start", ctypes.c_uint64), ("end", ctypes.c_uint64), ("offset", ctypes.c_uint64), ("path", ctypes.c_char_p),
                ("build_id", ctypes.c_char_p), ("build_id_size", ctypes.c_size_t)]


_Say = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p)
_Each = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(_Context))


class _Listener(ctypes.Structure):
    _fields_ = [("say", _Say), ("progress", ctypes.c_void_p), ("status", ctypes.c_void_p), ("context", ctypes.c_void_p),
                ("verbose", ctypes.c_bool)]


def _declare():
    handle, text, u64, size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_size_t
    number, real, error = ctypes.c_uint, ctypes.c_double, ctypes.POINTER(_Error)
    out, listener = ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(_Listener)
    of_frame = (handle, number, size)
    for name, result, *arguments in (
            ("version", text),
            ("contexts", ctypes.c_int, text, text, _Each, handle, error),
            ("resolver_open", ctypes.c_int, text, listener, out, error),
            ("resolver_close", None, handle),
            ("resolver_follow", ctypes.c_int, handle, ctypes.c_int, error),
            ("resolver_core", ctypes.c_int, handle, text, error),
            ("resolver_threads", size, handle),
            ("resolver_thread", ctypes.c_int, handle, size, ctypes.POINTER(ctypes.c_uint32), ctypes.POINTER(_Point)),
            ("resolver_mapping", ctypes.c_int, handle, ctypes.POINTER(_Mapping), error),
            ("resolver_stack", ctypes.c_int, handle, u64, u64, error),
            ("resolver_resolve", ctypes.c_int, handle, ctypes.POINTER(_Point), out, error),
            ("answer_certainty", ctypes.c_int, handle),
            ("answer_novelty", ctypes.c_int, handle),
            ("answer_reason", text, handle),
            ("answer_height", u64, handle),
            ("answer_paths", number, handle),
            ("answer_probability", real, handle, number),
            ("answer_range", None, handle, ctypes.POINTER(real), ctypes.POINTER(real)),
            ("answer_depth", size, handle, number),
            ("answer_function", text, *of_frame),
            ("answer_image", text, *of_frame),
            ("answer_address", u64, *of_frame),
            ("answer_source", size, *of_frame, ctypes.POINTER(_Source), size),
            ("live_start_as", ctypes.c_int, text, u64, text, listener, out, error),
            ("live_finish", ctypes.c_int, handle, error),
            ("live_write", ctypes.c_int, handle, handle, error),
            ("live_close", None, handle)):
        function = getattr(_lib, "fathom_" + name)
        function.restype, function.argtypes = result, arguments
    _libc.open_memstream.restype, _libc.open_memstream.argtypes = handle, [out, ctypes.POINTER(size)]
    _libc.fclose.argtypes = [handle]
    _libc.free.argtypes = [handle]


_declare()


def _call(function, *arguments):
    error = _Error()
    if function(*arguments, ctypes.byref(error)) < 0:
        raise Error(error.code, error.text.decode(errors="replace"))


def _path(path):
    return None if path is None else os.fsencode(path)


def _text(value):
    return value.decode(errors="replace")


def _listener(say):
    """say(level, text), level of LEVELS. Keep what is returned as long as the library may call it."""
    def pass_on(_, level, text):
        say(LEVELS[level], _text(text))
    return _Listener(say=_Say(pass_on)) if say else None


def version():
    return _text(_lib.fathom_version())


def contexts(recording, map=None, each=None):
    """The samples of a perf.data file with their inferred calling contexts: a list of Context, or each(context) for one after the other."""
    found, failed = [], []
    take = each or found.append

    def take_one(_, context):
        c = context.contents
        frames = [Frame(_text(f.function), _text(f.image), f.address) for f in c.frames[:c.depth]]
        try:
            take(Context(c.pid, c.tid, c.time, c.weight, CERTAINTIES[c.certainty], c.probability, frames))
        except BaseException as error:  # it cannot pass through the library
            failed.append(error)
            return -1
        return 0

    try:
        _call(_lib.fathom_contexts, _path(recording), _path(map), _Each(take_one), None)
    except Error:
        if not failed:
            raise
    if failed:
        raise failed[0]
    return found


class _Handle:
    """What is opened, and closed by close() or at the end of a "with"."""

    _close = None

    def __init__(self):
        self._opened = ctypes.c_void_p()

    @property
    def _handle(self):
        if not self._opened:
            raise ValueError("it is closed")
        return self._opened

    def close(self):
        if self._opened:
            self._close(self._opened)
        self._opened = ctypes.c_void_p()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()


class Resolver(_Handle):
    """The call paths of points by a path map: follow() a process that runs, or open the core() of one that has ended, or tell its mapping() and stack()."""

    _close = _lib.fathom_resolver_close

    def __init__(self, map, say=None):
        super().__init__()
        self._listener = _listener(say)
        _call(_lib.fathom_resolver_open, _path(map), self._listener, ctypes.byref(self._opened))

    def follow(self, pid=0):
        _call(_lib.fathom_resolver_follow, self._handle, pid)

    def core(self, path):
        """The threads of a core, the one that crashed first: a list of (tid, pc, sp, bp)."""
        _call(_lib.fathom_resolver_core, self._handle, _path(path))
        tid, point, threads = ctypes.c_uint32(), _Point(), []
        for i in range(_lib.fathom_resolver_threads(self._handle)):
            _lib.fathom_resolver_thread(self._handle, i, ctypes.byref(tid), ctypes.byref(point))
            threads.append((tid.value, point.pc, point.sp, point.bp))
        return threads

    def mapping(self, start, end, offset, path, build_id=None):
        mapping = _Mapping(start, end, offset, _path(path), build_id, len(build_id or b""))
        _call(_lib.fathom_resolver_mapping, self._handle, ctypes.byref(mapping))

    def stack(self, low, base):
        _call(_lib.fathom_resolver_stack, self._handle, low, base)

    @staticmethod
    def _sources(answer, rank, frame):
        found = (_Source * 64)()
        count = _lib.fathom_answer_source(answer, rank, frame, found, len(found))
        return [Source(f.function and _text(f.function), f.file and _text(f.file), f.line) for f in found[:count]]

    def resolve(self, pc, sp, bp=0, sources=False):
        answer, least, most = ctypes.c_void_p(), ctypes.c_double(), ctypes.c_double()
        _call(_lib.fathom_resolver_resolve, self._handle, ctypes.byref(_Point(pc, sp, bp)), ctypes.byref(answer))
        _lib.fathom_answer_range(answer, ctypes.byref(least), ctypes.byref(most))
        paths = []
        for rank in range(max(_lib.fathom_answer_paths(answer), 1)):
            frames = [Frame(_text(_lib.fathom_answer_function(answer, rank, i)), _text(_lib.fathom_answer_image(answer, rank, i)),
                            _lib.fathom_answer_address(answer, rank, i)) for i in range(_lib.fathom_answer_depth(answer, rank))]
            paths.append(Path(_lib.fathom_answer_probability(answer, rank), frames,
                              [self._sources(answer, rank, i) for i in range(len(frames))] if sources else []))
        return Answer(CERTAINTIES[_lib.fathom_answer_certainty(answer)], NOVELTIES[_lib.fathom_answer_novelty(answer)],
                      _text(_lib.fathom_answer_reason(answer)), _lib.fathom_answer_height(answer), least.value, most.value, paths)


class Recording(_Handle):
    """This process recorded by itself from now on, until finish() tells its profile as bytes, of a format of 'fathom report'."""

    _close = _lib.fathom_live_close

    def __init__(self, format="text", event=None, frequency=0, say=None):
        super().__init__()
        self._listener = _listener(say)
        _call(_lib.fathom_live_start_as, event.encode() if event else None, frequency, format.encode(), self._listener,
              ctypes.byref(self._opened))

    def finish(self):
        handle, data, size = self._handle, ctypes.c_void_p(), ctypes.c_size_t()
        try:
            _call(_lib.fathom_live_finish, handle)
            stream = _libc.open_memstream(ctypes.byref(data), ctypes.byref(size))
            if not stream:
                raise MemoryError
            try:
                _call(_lib.fathom_live_write, handle, stream)
            finally:
                failed = _libc.fclose(stream)
            if failed:
                raise MemoryError
            return ctypes.string_at(data, size.value)
        finally:
            self.close()
            _libc.free(data)
