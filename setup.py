"""Build the two C extensions; everything else is in pyproject.toml.

A machine without Python.h still gets a working install: the extensions are optional and the bindings then
load a plain shared library (see adamb.firmware_model.binding).
"""

from setuptools import setup
from setuptools.command.build_ext import build_ext


class OptionalBuildExt(build_ext):
    def run(self):
        for extension in self.extensions:
            extension.optional = True
        super().run()


setup(
    cffi_modules=["firmware_model/_binding_build.py:ffibuilder", "host_sim/_sim_build.py:ffibuilder"],
    cmdclass={"build_ext": OptionalBuildExt},
)
