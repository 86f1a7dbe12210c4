"""What pyproject.toml cannot say: which folders are packages, which files go with them, the C extensions.

Everything is found by looking, so that a new module, package, data file or C file needs no edit here. The
folders of the repository become sub-packages of `adamb`: `host_sim/` is `adamb.host_sim`.

A machine without Python.h still gets a working install: the extensions are optional, and the bindings then
load a plain shared library instead.

Two builds of the same files give the same bytes, wherever and whenever they run: time stamps are the day of
the release (or SOURCE_DATE_EPOCH), archives are sorted and owned by nobody, and no path of the machine gets
into the extensions.
"""

import gzip
import os
import re
import subprocess
import tarfile
from datetime import UTC, datetime
from pathlib import Path

from setuptools import setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist
from setuptools.errors import CompileError, LinkError

HERE = Path(__file__).resolve().parent
FOLDERS = ("firmware_model", "budgets", "host_sim", "tools")
DATA = (
    "*.toml", "*.md", "*.c", "*.h", "*.hpp", "*.cpp", "*.in", "*.js", "*.mjs", "*.css", "*.html", "py.typed",
)  # fmt: skip
GENERATED = ("_core.c", "_sim.c")
# A step is many small functions in many files: gcc may put them into one another.
ACROSS_FILES = (
    "-flto=auto", "-fno-semantic-interposition", "-finline-limit=2000", "--param=inline-unit-growth=200",
)  # fmt: skip


class OptionalBuildExt(build_ext):
    def run(self):
        for extension in self.extensions:
            extension.optional = True
        super().run()

    def build_extensions(self):
        if self.compiler.compiler_type == "unix":
            for extension in self.extensions:
                extension.extra_compile_args += [f"-ffile-prefix-map={HERE}=.", "-g0"]
        super().build_extensions()

    def build_extension(self, ext):
        if self.compiler.compiler_type == "unix" and is_gcc(self.compiler.compiler_so[0]):
            plain = ext.extra_compile_args, ext.extra_link_args
            ext.extra_compile_args, ext.extra_link_args = ([*flags, *ACROSS_FILES] for flags in plain)
            try:
                return super().build_extension(ext)
            except (CompileError, LinkError):  # a gcc that was built without it
                ext.extra_compile_args, ext.extra_link_args = plain
        return super().build_extension(ext)


class SameBytesSdist(sdist):
    """tar and gzip would record when, by whom and in which order of the folder the files were packed."""

    def make_archive(self, base_name, format, root_dir=None, base_dir=None, owner=None, group=None):
        if format != "gztar":
            return super().make_archive(base_name, format, root_dir, base_dir, owner, group)
        top = Path(root_dir or ".") / base_dir
        name = f"{base_name}.tar.gz"
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        with (
            open(name, "wb") as file,
            gzip.GzipFile("", "wb", mtime=EPOCH, fileobj=file) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
        ):
            for path in [top, *sorted(top.rglob("*"))]:
                inside = Path(base_dir, path.relative_to(top)).as_posix()
                archive.add(path, inside, recursive=False, filter=anonymous)
        return name


def is_gcc(compiler):
    """Whatever its name: on some systems gcc is clang, and cc is either."""
    try:
        said = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:  # there is none
        return False
    return "Free Software Foundation" in said


def anonymous(entry):
    """Of a file only its name, its content and whether it can be run."""
    entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = EPOCH, 0, 0, "", ""
    entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
    return entry


def release_day():
    """Seconds of the release's date, which CITATION.cff holds."""
    text = (HERE / "CITATION.cff").read_text(encoding="utf-8")
    found = re.search(r"date-released: (\d{4}-\d\d-\d\d)", text)
    return int(datetime.fromisoformat(found.group(1)).replace(tzinfo=UTC).timestamp())


# The wheel's archive takes its time stamps from here, and file modes from the mask.
EPOCH = int(os.environ.setdefault("SOURCE_DATE_EPOCH", str(release_day())))
os.umask(0o022)


def relative(pattern):
    """Files of the four folders that match, as paths relative to this one; setuptools wants no others."""
    found = (path for folder in FOLDERS for path in (HERE / folder).rglob(pattern))
    return sorted(path.relative_to(HERE) for path in found)


setup(
    packages=["adamb." + ".".join(path.parent.parts) for path in relative("__init__.py")],
    package_dir={f"adamb.{folder}": folder for folder in FOLDERS},
    package_data={f"adamb.{folder}": [f"**/{pattern}" for pattern in DATA] for folder in FOLDERS},
    exclude_package_data={"": list(GENERATED)},
    cffi_modules=[f"{path.as_posix()}:ffibuilder" for path in relative("_*_build.py")],
    # cffi keeps to the stable ABI, so that one wheel serves every Python from the oldest we take.
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
    cmdclass={"build_ext": OptionalBuildExt, "sdist": SameBytesSdist},
)
