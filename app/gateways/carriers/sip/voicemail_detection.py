"""Detect whether a person or a machine answered: a person says hello and waits, a machine talks on
and then beeps.

It uses frames of 20 ms at 8 kHz: their loudness, and how much of each is a single tone. It
recognizes no words. In case of doubt the result is unknown.
"""

import math
from array import array
from collections.abc import Iterable
from operator import mul

from app.enums import AnsweredBy

RATE = 8000
FRAME = 160
_SECOND = RATE // FRAME
LOUD = 250.0
"""The root mean square above which a frame is sound: 42 dB below full scale."""
MAX_HELLO_SAMPLES = int(2.0 * _SECOND)
"""A person's greeting is shorter than this."""
PAUSE = int(0.8 * _SECOND)
"""The silence after a greeting that waits for an answer."""
SILENCE = int(3.0 * _SECOND)
GREETING_OVER = int(3.0 * _SECOND)
"""The silence after a machine's greeting without a beep."""
BEEP = int(0.16 * _SECOND)
BEEP_OVER = 3
_LOWEST_BEEP, _HIGHEST_BEEP = 350.0, 2600.0
_IMPURITY = 0.0036
"""The share of a frame's energy that may be other than its tone."""
_STEADY = 0.025


class VoicemailDetector:
    """Takes sound in chunks and sets ``answered_by`` and ``may_speak``.

    ``may_speak``: a machine is recording, after its beep or after a long silence.
    """

    def __init__(self) -> None:
        self.answered_by: AnsweredBy | None = None
        self.may_speak = False
        self._rest: array[int] = array("h")
        self._frames = 0
        self._first_sound: int | None = None
        self._last_sound = 0
        self._tone = 0.0
        self._tone_frames = 0
        self._beep_ended: int | None = None

    def hear(self, samples: Iterable[int]) -> None:
        self._rest.extend(samples)
        whole = len(self._rest) // FRAME * FRAME
        for start in range(0, whole, FRAME):
            self._analyze(self._rest[start : start + FRAME])
        del self._rest[:whole]

    def _analyze(self, frame: "array[int]") -> None:
        self._frames += 1
        energy = sum(map(mul, frame, frame))
        is_loud = energy > FRAME * LOUD * LOUD
        if is_loud:
            if self._first_sound is None:
                self._first_sound = self._frames
            self._last_sound = self._frames
        self._follow_tone(_pure_tone(frame, energy) if is_loud else None)
        self._conclude()

    def _follow_tone(self, tone: float | None) -> None:
        if tone is not None and abs(tone - self._tone) < _STEADY * tone:
            self._tone_frames += 1
            self._beep_ended = None
        else:
            if self._tone_frames >= BEEP:
                self._beep_ended = self._frames
            self._tone_frames = 1 if tone is not None else 0
        self._tone = tone or 0.0

    def _conclude(self) -> None:
        if self._tone_frames >= BEEP:
            self.answered_by = AnsweredBy.VOICEMAIL
        quiet = self._frames - self._last_sound
        if self.answered_by is None:
            self.answered_by = self._first_opinion(quiet)
        if self._beep_ended is not None and self._frames - self._beep_ended >= BEEP_OVER:
            self.may_speak = True
        if self._tone_frames < BEEP and quiet >= GREETING_OVER:
            self.may_speak = True

    def _first_opinion(self, quiet: int) -> AnsweredBy | None:
        if self._first_sound is None:
            return AnsweredBy.UNKNOWN if self._frames >= SILENCE else None
        if self._last_sound - self._first_sound >= MAX_HELLO_SAMPLES:
            return AnsweredBy.VOICEMAIL
        return AnsweredBy.HUMAN if quiet >= PAUSE else None


def _pure_tone(frame: "array[int]", energy: int) -> float | None:
    """Return the frequency of the frame's single tone in hertz; None for any other sound.

    A sine obeys x[n-1] + x[n+1] = 2 cos(w) x[n]: the best cosine is found, then the remainder.
    """
    middle = frame[1:-1]
    neighbor_sums = [before + after for before, after in zip(frame, frame[2:], strict=False)]
    inner = sum(map(mul, middle, middle))
    if not inner:
        return None
    factor = sum(map(mul, middle, neighbor_sums)) / inner
    if not -2.0 < factor < 2.0:
        return None
    remainder = sum(
        (neighbor_sum - factor * sample) ** 2
        for neighbor_sum, sample in zip(neighbor_sums, middle, strict=True)
    )
    frequency = math.acos(factor / 2.0) * RATE / (2.0 * math.pi)
    if not _LOWEST_BEEP <= frequency <= _HIGHEST_BEEP:
        return None
    # Noise weighs (2 + factor²) times as much in the remainder as in the sound itself.
    return frequency if remainder < _IMPURITY * (2.0 + factor * factor) * energy else None
