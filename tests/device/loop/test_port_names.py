"""Ports by name: those of Windows, too, which have no place in the file system and no handle to wait for."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from adamb.budgets.errors import InputError
from adamb.tools.device.loop import port
from adamb.tools.device.loop.targets import find_targets


@pytest.mark.parametrize("text", ["COM3", "com3", r"\\.\COM3"])
def test_a_port_of_windows_is_one_port_however_it_is_written(text):
    assert port.one_name(text) == "COM3"
    (target,) = find_targets(f"board:{text}")
    assert target.port == text, "what is opened is what the user wrote"


def test_two_boards_on_windows_are_two_targets():
    assert [each.port for each in find_targets("board:COM3,board:COM12")] == ["COM3", "COM12"]


def test_one_board_named_twice_is_refused(tmp_path):
    (tmp_path / "device").touch()
    (tmp_path / "link").symlink_to("device")
    for names in ("board:COM3,board:com3", f"board:{tmp_path}/device,board:{tmp_path}/link"):
        with pytest.raises(InputError, match="is there twice"):
            find_targets(names)


@pytest.mark.parametrize(
    ("there", "says"), [(["COM3"], "in use by another program"), (["COM4"], "there are COM4")]
)
def test_a_port_of_windows_that_does_not_open_is_taken_or_not_there(monkeypatch, there, says):
    monkeypatch.setattr(port, "port_names", lambda: there)
    assert says in port._reason("com3", PermissionError(13, "Access is denied."))


class Line:
    """A line as on Windows: no handle."""

    timeout = None

    def __init__(self, data: bytes, after: int) -> None:
        self.data, self.after = data, after

    @property
    def in_waiting(self) -> int:
        self.after -= 1
        return len(self.data) if self.after < 0 else 0

    def read(self, count: int) -> bytes:
        found, self.data = self.data[:count], self.data[count:]
        return found


def test_a_line_without_a_handle_is_read_when_something_arrives():
    transport = port.PortTransport.__new__(port.PortTransport)
    transport.port, transport.remote = "COM3", SimpleNamespace(serial=Line(b"~abc\n", after=5))
    assert transport.read(5.0) == b"~abc\n"
    assert transport.read(0.0) == b"", "nothing more, and no error"
