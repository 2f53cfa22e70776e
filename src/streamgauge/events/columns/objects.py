"""Columns that have columns of their own: objects, and objects as JSON text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import pyarrow as pa
from numpy.typing import NDArray
from pydantic import (
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
)
from pydantic_core import InitErrorDetails

from streamgauge.events.columns.base import BaseColumn, Leaf
from streamgauge.events.columns.texts import Choice, Uuid, Words
from streamgauge.events.columns.values import Flag, Keys, Real, Time, Whole
from streamgauge.events.json_text import json_texts
from streamgauge.hints import did_you_mean

MAX_DEPTH = 8


class _Nested(BaseColumn):
    columns: Mapping[str, Column]

    @field_validator("columns")
    @classmethod
    def _sensible(cls, columns: Mapping[str, Column]) -> Mapping[str, Column]:
        if not columns:
            raise ValueError("an object has at least one column; add one")
        if max(map(_depth, columns.values())) >= MAX_DEPTH:
            raise ValueError(f"objects are nested more than {MAX_DEPTH} deep; take a level out")
        return columns

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        return tuple(leaf for column in self.columns.values() for leaf in column.leaves)

    @property
    def struct(self) -> pa.StructType:
        return pa.struct(fields_of(self.columns))

    def build(self, drawn: Iterator[NDArray[Any]]) -> pa.Array:
        values = [column.build(drawn) for column in self.columns.values()]
        return pa.StructArray.from_arrays(values, fields=list(self.struct))


class Object(_Nested):
    """An object with columns of its own: a struct in Spark, a nested object in a JSON message."""

    kind: Literal["object"] = "object"

    @property
    def arrow_type(self) -> pa.DataType:
        return self.struct


class Json(_Nested):
    """An object with columns of its own, as JSON text."""

    kind: Literal["json"] = "json"

    @property
    def arrow_type(self) -> pa.DataType:
        return pa.string()

    def build(self, drawn: Iterator[NDArray[Any]]) -> pa.Array:
        return json_texts(super().build(drawn))


def fields_of(columns: Mapping[str, Column]) -> list[pa.Field]:
    # Without null values Spark leaves out its checks for them.
    return [pa.field(name, column.arrow_type, False) for name, column in columns.items()]


def _depth(column: BaseColumn) -> int:
    if not isinstance(column, _Nested):
        return 0
    return 1 + max(map(_depth, column.columns.values()))


KINDS = {
    model.model_fields["kind"].default: model
    for model in (Keys, Whole, Real, Flag, Time, Choice, Words, Uuid, Object, Json)
}


def _explained(given: Any, validate: ValidatorFunctionWrapHandler) -> Any:
    """A column from its settings; a wrong name is refused with the nearest right one."""
    if isinstance(given, Mapping):
        kind = str(given.get("kind", ""))
        if kind not in KINDS:
            hint = did_you_mean(kind, KINDS, f"choose one of: {', '.join(KINDS)}")
            raise ValueError(f"there is no kind of column `{kind}`; {hint}")
        known = list(KINDS[kind].model_fields)
        for name in given:
            if name not in known:
                hint = did_you_mean(str(name), known, f"known here: {', '.join(known)}")
                raise ValueError(f"a column of kind `{kind}` has no `{name}`; {hint}")
    try:
        return validate(given)
    except ValidationError as error:
        # Each place begins with the kind, which is no key of the user's.
        details = [
            InitErrorDetails(
                type=one["type"], loc=one["loc"][1:], input=one["input"], ctx=one.get("ctx", {})
            )
            for one in error.errors()
        ]
        raise ValidationError.from_exception_data(error.title, details) from None


Column = Annotated[
    Annotated[
        Keys | Whole | Real | Flag | Time | Choice | Words | Uuid | Object | Json,
        Field(discriminator="kind"),
    ],
    WrapValidator(_explained),
]
Object.model_rebuild()
Json.model_rebuild()
