"""Commands that are imported with the first that is asked for: web processes need none."""

from collections.abc import Callable

from click import Command, Context
from flask.cli import AppGroup


class LateCommands(AppGroup):
    """``register`` adds the commands, to this group."""

    def __init__(self, name: str, register: Callable[[], None]):
        super().__init__(name)
        self._register: Callable[[], None] | None = register

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        self._complete()
        return super().get_command(ctx, cmd_name)

    def list_commands(self, ctx: Context) -> list[str]:
        self._complete()
        return super().list_commands(ctx)

    def _complete(self) -> None:
        if self._register is not None:
            register, self._register = self._register, None
            register()
