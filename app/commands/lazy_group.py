"""A click group that imports its commands when the first one is used."""

from collections.abc import Callable

from click import Command, Context
from flask.cli import AppGroup


class LazyGroup(AppGroup):
    """``register`` adds the commands to this group. Web processes never need them."""

    def __init__(self, name: str, register: Callable[[], None]):
        super().__init__(name)
        self._register: Callable[[], None] | None = register

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        self._load()
        return super().get_command(ctx, cmd_name)

    def list_commands(self, ctx: Context) -> list[str]:
        self._load()
        return super().list_commands(ctx)

    def _load(self) -> None:
        if self._register is not None:
            register, self._register = self._register, None
            register()
