"""Why a number is refused."""

from app.errors import ValidationFailed


class PhoneError(ValidationFailed):
    """A number that cannot be stored or called; ``message`` says what would be right.

    Make the message by a `Sentence`: what is wrong with the rows of contact files is stored.
    """

    def __init__(self, code: str, message: str):
        super().__init__(message, code)
