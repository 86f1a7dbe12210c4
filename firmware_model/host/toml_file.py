"""TOML files of a user, read so that a mistake names the file, the key, the value and what was expected."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, NoReturn

from adamb.firmware_model.host.errors import InputError, unknown_name


def read_toml(path: Path, field: str) -> dict[str, Any]:
    """The content of a file; `field` is what the user gave its name for."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(field, str(path), "there is no such file") from None
    except UnicodeDecodeError:
        raise InputError(field, str(path), "must be a UTF-8 text file in TOML") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(field, str(path), f"must be valid TOML: {error}") from None
    except OSError as error:
        raise InputError(field, str(path), f"cannot be read: {error.strerror}") from None


def refuse(path: Path, key: str, value: object, expectation: str) -> NoReturn:
    raise InputError(f"{path}: {key}", value, f"expected {expectation}")


def check_known(path: Path, prefix: str, table: dict[str, Any], known: tuple[str, ...]) -> None:
    for key in table:
        if key not in known:
            raise unknown_name(f"{path}: {prefix}{key}", key, known, "unknown key")


def checked_text(path: Path, key: str, value: object) -> str:
    if not isinstance(value, str) or len(value.strip().splitlines()) != 1:
        refuse(path, key, value, "a text of one line that is not empty")
    return value.strip()
