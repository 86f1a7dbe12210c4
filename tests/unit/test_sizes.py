"""A size means the same however it is written, and what is not a size is explained."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adamb.firmware_model.host.errors import InputError
from adamb.firmware_model.host.sizes import MAX_BYTES, format_bytes, parse_size


@pytest.mark.parametrize(
    ("written", "size"),
    [
        ("4KiB", 4096),
        ("4kb", 4096),
        ("4 KB", 4096),
        ("4k", 4096),
        ("4096", 4096),
        (4096, 4096),
        ("4_096", 4096),
        ("  16 KiB ", 16384),
        ("100B", 100),
        ("100 bytes", 100),
        ("1.5KiB", 1536),
        (".5k", 512),
        ("2MiB", 2 * 1024**2),
        ("4GiB", MAX_BYTES),
    ],
)
def test_every_way_to_write_a_size_is_read(written, size):
    assert parse_size(written) == size


@pytest.mark.parametrize(
    ("written", "explanation"),
    [
        ("", "no size given"),
        ("   ", "no size given"),
        ("banana", "not a size"),
        ("4KiB extra", "not a size"),
        ("nan", "not a size"),
        ("1e3", "not a size"),
        ("٤", "not a size"),
        ("-4KiB", "cannot be negative"),
        ("0", "nothing fits"),
        ("0.3B", "not a whole number"),
        ("4 parsec", "unit 'parsec'"),
        ("4kbit", "unit 'kbit'"),
        ("4097", "words of 2 bytes; write 4096 or 4098"),
        ("1.5B", "not a whole number"),
        ("5GiB", "more than 4 GiB"),
        ("9" * 5000, "not a size"),
        ("9" * 40, "more than 4 GiB"),
    ],
)
def test_what_is_not_a_size_is_explained(written, explanation):
    with pytest.raises(InputError, match=explanation) as caught:
        parse_size(written, "budget")
    assert caught.value.field == "budget" and caught.value.value == written
    assert "\n" not in str(caught.value)


@given(st.integers(1, MAX_BYTES // 1024))
def test_a_size_in_kib_is_1024_times_the_number(count):
    assert parse_size(f"{count}KiB") == parse_size(f"{count} kb") == parse_size(count * 1024)


@given(st.text(max_size=12))
def test_no_text_ends_in_anything_but_a_size_or_an_input_error(text):
    try:
        assert 1 <= parse_size(text) <= MAX_BYTES
    except InputError as error:
        assert error.field == "budget"


@pytest.mark.parametrize(
    ("size", "written"),
    [
        (0, "0 B"),
        (100, "100 B"),
        (1023, "1023 B"),
        (4096, "4 KiB"),
        (2913, "2.84 KiB"),
        (131072, "128 KiB"),
        (130_000, "127 KiB"),
        (3 * 1024**2, "3 MiB"),
    ],
)
def test_bytes_are_printed_in_the_largest_unit_with_three_figures(size, written):
    assert format_bytes(size) == written
