"""A file system whose files are in MicroPython's heap, for a firmware that has none.

Importing from it copies code, as from a board's flash. A soft reset takes it away with all that is in it.
"""

NO_DEVICE = 19
"""What a path of a board without a file system gives (ENODEV)."""
MOUNT = """
import io, vfs
F, D = {}, set()
class Files:
    def mount(self, readonly, mkfs): pass
    def umount(self): pass
    def chdir(self, path): pass
    def getcwd(self): return "/"
    def stat(self, path):
        path = path.strip("/")
        if path in F: return (0x8000, 0, 0, 0, 0, 0, len(F[path]), 0, 0, 0)
        if path in D: return (0x4000, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        for name in F:
            if name.startswith(path + "/"): return (0x4000, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        raise OSError(2)
    def ilistdir(self, path):
        path = path.strip("/")
        first = path + "/" if path else ""
        for kind, names in ((0x8000, F), (0x4000, D)):
            for name in list(names):
                if name.startswith(first) and "/" not in name[len(first):]: yield (name[len(first):], kind, 0)
    def mkdir(self, path): D.add(path.strip("/"))
    def rmdir(self, path):
        if path.strip("/") not in D: raise OSError(2)
        D.remove(path.strip("/"))
    def remove(self, path):
        if path.strip("/") not in F: raise OSError(2)
        del F[path.strip("/")]
    def open(self, path, mode):
        path = path.strip("/")
        if "w" in mode: return Writer(path)
        if path not in F: raise OSError(2)
        return io.BytesIO(F[path]) if "b" in mode else io.StringIO(str(F[path], "utf8"))
class Writer(io.IOBase):
    def __init__(self, path):
        F[path] = bytearray()
        self.path = path
    def write(self, data):
        F[self.path].extend(data)
        return len(data)
    def ioctl(self, request, value): return 0
    def close(self): pass
    def __enter__(self): return self
    def __exit__(self, *why): pass
vfs.mount(Files(), "/")
"""
