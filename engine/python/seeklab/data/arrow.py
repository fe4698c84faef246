"""Columns as an Arrow stream, through the PyCapsule interface, using only the standard library.

The three structures are defined by the Arrow C data and C stream interfaces. A consumer takes one over by copying
it and clearing the original's `release`, so the address of a structure may change. Everything that it refers to is kept
in `alive`, under the number in its `private_data`, until its `release` is called. A record batch is a structure array
whose children are the columns. A column's buffer is the table's own memory, which is never copied.
"""

from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int64, c_void_p
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar

from seeklab.data.columns import TextColumn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from seeklab.data.columns import Column

FORMATS = {"d": b"g", "I": b"I"}
"""Arrow's name of a column type, by the type code of `array.array`."""
TEXT_FORMAT = b"u"


class _Schema(Structure):
    pass


class _Array(Structure):
    pass


class _Stream(Structure):
    pass


_ReleaseSchema = CFUNCTYPE(None, POINTER(_Schema))
_ReleaseArray = CFUNCTYPE(None, POINTER(_Array))
_ReleaseStream = CFUNCTYPE(None, POINTER(_Stream))
_GetSchema = CFUNCTYPE(c_int, POINTER(_Stream), POINTER(_Schema))
_GetNext = CFUNCTYPE(c_int, POINTER(_Stream), POINTER(_Array))
_GetLastError = CFUNCTYPE(c_void_p, POINTER(_Stream))

_Schema._fields_ = [
    ("format", c_char_p),
    ("name", c_char_p),
    ("metadata", c_void_p),
    ("flags", c_int64),
    ("n_children", c_int64),
    ("children", POINTER(POINTER(_Schema))),
    ("dictionary", c_void_p),
    ("release", _ReleaseSchema),
    ("private_data", c_void_p),
]
_Array._fields_ = [
    ("length", c_int64),
    ("null_count", c_int64),
    ("offset", c_int64),
    ("n_buffers", c_int64),
    ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)),
    ("children", POINTER(POINTER(_Array))),
    ("dictionary", c_void_p),
    ("release", _ReleaseArray),
    ("private_data", c_void_p),
]
_Stream._fields_ = [
    ("get_schema", _GetSchema),
    ("get_next", _GetNext),
    ("get_last_error", _GetLastError),
    ("release", _ReleaseStream),
    ("private_data", c_void_p),
]

_keys = count(1)
alive: dict[int, Any] = {}


def _keep(*kept: object) -> int:
    """Keep objects until the structure with the returned number is released."""
    key = next(_keys)
    alive[key] = kept
    return key


class _Released:
    """The release callbacks: release children that were not taken over, free kept objects, and mark as released."""

    @staticmethod
    def tree(pointer: Any) -> None:
        structure = pointer.contents
        for index in range(structure.n_children):
            child = structure.children[index]
            if child.contents.release:
                child.contents.release(child)
        _Released.leaf(pointer)

    @staticmethod
    def leaf(pointer: Any) -> None:
        structure = pointer.contents
        alive.pop(structure.private_data, None)
        structure.release = type(structure.release)()


_release_schema = _ReleaseSchema(_Released.tree)
_release_array = _ReleaseArray(_Released.tree)
_release_stream = _ReleaseStream(_Released.leaf)


def _fill_schema(schema: _Schema, columns: Mapping[str, Column]) -> None:
    """Describe a structure whose children are the columns."""
    children = [_Schema() for _ in columns]
    for child, (name, values) in zip(children, columns.items(), strict=True):
        encoded = name.encode()
        child.format = TEXT_FORMAT if isinstance(values, TextColumn) else FORMATS[values.typecode]
        child.name, child.release = encoded, _release_schema
        child.private_data = _keep(encoded)
    pointers = (POINTER(_Schema) * len(children))(*map(ctypes.pointer, children))
    schema.format, schema.name, schema.n_children, schema.children = b"+s", b"", len(children), pointers
    schema.release, schema.private_data = _release_schema, _keep(children, pointers)


def _fill_array(batch: _Array, columns: Mapping[str, Column]) -> None:
    """Lend the columns' memory as one record batch."""
    children = [_Array() for _ in columns]
    length = 0
    for child, values in zip(children, columns.values(), strict=True):
        length = len(values)
        lent = (values.offsets, values.data) if isinstance(values, TextColumn) else (values,)
        # No validity bitmap: no value is missing.
        buffers = (c_void_p * (1 + len(lent)))(None, *(memory.buffer_info()[0] for memory in lent))
        child.length, child.n_buffers, child.buffers, child.release = length, len(buffers), buffers, _release_array
        child.private_data = _keep(values, buffers)
    pointers = (POINTER(_Array) * len(children))(*map(ctypes.pointer, children))
    buffers = (c_void_p * 1)(None)
    batch.length, batch.n_buffers, batch.buffers = length, 1, buffers
    batch.n_children, batch.children = len(children), pointers
    batch.release, batch.private_data = _release_array, _keep(children, pointers, buffers)


def _columns_of(stream: Any) -> tuple[Mapping[str, Column], list[bool]]:
    columns, given = alive[stream.contents.private_data]
    return columns, given


def _get_schema(stream: Any, schema: Any) -> int:
    ctypes.memset(schema, 0, ctypes.sizeof(_Schema))
    columns, _ = _columns_of(stream)
    _fill_schema(schema.contents, columns)
    return 0


def _get_next(stream: Any, batch: Any) -> int:
    ctypes.memset(batch, 0, ctypes.sizeof(_Array))  # a released array ends the stream
    columns, given = _columns_of(stream)
    if not given:
        given.append(True)
        _fill_array(batch.contents, columns)
    return 0


def _get_last_error(_stream: Any) -> None:
    """Return no message, because neither callback fails."""


_c_get_schema, _c_get_next, _c_get_last_error = (
    _GetSchema(_get_schema),
    _GetNext(_get_next),
    _GetLastError(_get_last_error),
)


class _Python:
    """The functions of Python's C interface that create and open capsules."""

    Destructor = CFUNCTYPE(None, c_void_p)
    new: ClassVar[Callable[..., Any]] = ctypes.pythonapi.PyCapsule_New
    pointer: ClassVar[Callable[..., Any]] = ctypes.pythonapi.PyCapsule_GetPointer


ctypes.pythonapi.PyCapsule_New.restype = ctypes.py_object
ctypes.pythonapi.PyCapsule_New.argtypes = [c_void_p, c_char_p, _Python.Destructor]
ctypes.pythonapi.PyCapsule_GetPointer.restype = c_void_p
ctypes.pythonapi.PyCapsule_GetPointer.argtypes = [c_void_p, c_char_p]

_SCHEMA, _STREAM = b"arrow_schema", b"arrow_array_stream"  # capsules keep a pointer to their name
in_capsules: dict[int, Structure] = {}


def _destructor(name: bytes, kind: type[Any]) -> Any:
    """Return the callback of a dropped capsule: it releases the structure unless a consumer has taken it over."""

    def destroy(capsule: int) -> None:
        address = _Python.pointer(capsule, name)
        structure = kind.from_address(address)
        if structure.release:
            structure.release(ctypes.pointer(structure))
        del in_capsules[address]

    return _Python.Destructor(destroy)


_destroy_schema = _destructor(_SCHEMA, _Schema)
_destroy_stream = _destructor(_STREAM, _Stream)


def _capsule(structure: Structure, name: bytes, destructor: Any) -> object:
    address = ctypes.addressof(structure)
    in_capsules[address] = structure
    return _Python.new(address, name, destructor)


def schema_capsule(columns: Mapping[str, Column]) -> object:
    """Return an `arrow_schema` capsule with the columns' names and types."""
    schema = _Schema()
    _fill_schema(schema, columns)
    return _capsule(schema, _SCHEMA, _destroy_schema)


def stream_capsule(columns: Mapping[str, Column]) -> object:
    """Return an `arrow_array_stream` capsule with the columns as one record batch."""
    given: list[bool] = []
    stream = _Stream(_c_get_schema, _c_get_next, _c_get_last_error, _release_stream, _keep(columns, given))
    return _capsule(stream, _STREAM, _destroy_stream)
