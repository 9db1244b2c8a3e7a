"""Texts as sound for the telephone: a recording if there is one, otherwise espeak-ng's voice."""

import math
import subprocess
import sys
import wave
from array import array
from fractions import Fraction
from operator import mul
from pathlib import Path

RATE = 8000
SILENCE_SECONDS = 100
"""Seconds of silence after the text: baresip ends a call when its source ends."""
SPEECH_LIMIT_SECONDS = 30.0
WORDS_A_MINUTE = 160
_LOBES = 6


class CannotSpeak(Exception):
    """The text could not be turned into sound; the message is the reason."""


def prepare(text: str, path: Path, *, espeak: str, voice: str, sounds: Path | None = None) -> float:
    """Write a WAV file of the text with silence after it; return the duration in seconds."""
    recording = _find_recording(text, sounds)
    source = recording or path.with_suffix(".raw.wav")
    if recording is None and text:
        _synthesize(text, source, espeak, voice)
    samples = _read_samples(source) if text else array("h")
    with wave.open(str(path), "wb") as out:
        out.setparams((1, 2, RATE, 0, "NONE", ""))
        out.writeframes(_little_endian(samples) + bytes(2 * RATE * SILENCE_SECONDS))
    return len(samples) / RATE


def _find_recording(text: str, sounds: Path | None) -> Path | None:
    """Return the recording ``name.wav`` whose ``name.txt`` holds exactly this text."""
    if sounds is None or not text:
        return None
    for text_file in sorted(sounds.glob("*.txt")):
        sound = text_file.with_suffix(".wav")
        if text_file.read_text().strip() == text.strip() and sound.is_file():
            return sound
    return None


def _synthesize(text: str, path: Path, espeak: str, voice: str) -> None:
    speaking = [espeak, "-v", voice, "-s", str(WORDS_A_MINUTE), "-b", "1", "-w", str(path)]
    plain = text.replace("[[", "[ [")  # espeak-ng would read phonemes out of these
    try:
        subprocess.run(  # noqa: S603 - the operator names the program; the words go in by a pipe
            [*speaking, "--stdin"],
            input=plain.encode("utf-8", "replace"),
            check=True,
            capture_output=True,
            timeout=SPEECH_LIMIT_SECONDS,
        )
    except (OSError, subprocess.SubprocessError) as error:
        message = f"espeak-ng could not speak the message ({type(error).__name__})."
        raise CannotSpeak(message) from error


def _read_samples(path: Path) -> "array[int]":
    try:
        with wave.open(str(path), "rb") as sound:
            if sound.getsampwidth() != 2 or sound.getnchannels() not in {1, 2}:
                message = f"{path.name} is not a WAV file of 16 bits."
                raise CannotSpeak(message)
            samples = array("h", sound.readframes(sound.getnframes()))
            rate, channels = sound.getframerate(), sound.getnchannels()
    except (OSError, EOFError, wave.Error) as error:
        message = f"{path.name} can't be read as a WAV file."
        raise CannotSpeak(message) from error
    if sys.byteorder == "big":
        samples.byteswap()
    return to_telephone(samples[::channels], rate)


def _little_endian(samples: "array[int]") -> bytes:
    if sys.byteorder == "big":
        samples.byteswap()
    return samples.tobytes()


def to_telephone(samples: "array[int]", rate: int) -> "array[int]":
    """Return the sound at 8 kHz, without frequencies above the telephone's band."""
    if rate == RATE:
        return samples
    step = Fraction(rate, RATE)
    reach = max(1.0, float(step))
    half = math.ceil(_LOBES * reach)
    kernels = [
        _filter_kernel(phase / step.denominator, half, reach) for phase in range(step.denominator)
    ]
    padded = array("d", [0.0] * half) + array("d", samples) + array("d", [0.0] * (half + 1))
    resampled = array("h")
    for number in range(int(len(samples) / step)):
        whole, phase = divmod(number * step.numerator, step.denominator)
        near = padded[whole : whole + 2 * half + 1]
        resampled.append(max(-32768, min(32767, round(sum(map(mul, near, kernels[phase]))))))
    return resampled


def _filter_kernel(offset: float, half: int, reach: float) -> list[float]:
    """Return a windowed low-pass filter around a position between two samples."""
    weights = []
    for position in range(-half, half + 1):
        away = (position - offset) / reach
        curve = math.sin(math.pi * away) / (math.pi * away) if away else 1.0
        window = 0.5 + 0.5 * math.cos(math.pi * away / _LOBES) if abs(away) < _LOBES else 0.0
        weights.append(curve * window)
    total = sum(weights)
    return [weight / total for weight in weights]
