"""A person is distinguished from a machine by sound, in several voices and over a telephone's
sound."""

import random
from array import array
from pathlib import Path

import pytest

from app.enums import AnsweredBy
from app.gateways.carriers.sip.speech import CannotSpeak, prepare, to_telephone
from app.gateways.carriers.sip.voicemail_detection import FRAME, RATE, VoicemailDetector
from tests.fixtures.sip_phone import likeness, read_sound, silence, spoken, tone
from tests.matrix import rotating

GREETING = (
    "You have reached Mary Smith. Please leave a message after the tone, and have a nice day."
)
pytestmark = pytest.mark.debian

VOICES = rotating("voice that answers", ("en-us", "en-gb+f3", "de"))


def noisy(sound: "array[int]", height: int) -> "array[int]":
    chance = random.Random(1)
    return array("h", [sample + chance.randint(-height, height) for sample in sound])


def listened(sound: "array[int]") -> tuple[AnsweredBy | None, float | None, float | None]:
    """Who answered, and the seconds after which that and the moment to speak were detected."""
    listener, decided, may_speak = VoicemailDetector(), None, None
    for start in range(0, len(sound), FRAME):
        listener.hear(sound[start : start + FRAME])
        second = (start + FRAME) / RATE
        if listener.answered_by and decided is None:
            decided = second
        if listener.may_speak and may_speak is None:
            may_speak = second
    return listener.answered_by, decided, may_speak


@pytest.mark.parametrize("voice", VOICES)
@pytest.mark.parametrize("words", ["Hello?", "Hello, this is Anna."])
@pytest.mark.parametrize("noise", [0, 120])
def test_a_short_greeting_and_a_pause_is_a_person(words: str, voice: str, noise: int) -> None:
    hello = silence(0.4) + spoken(words, voice)
    who, decided, _ = listened(noisy(hello + silence(1.5), noise))
    assert who is AnsweredBy.HUMAN
    assert decided is not None
    assert decided < len(hello) / RATE + 1.0


@pytest.mark.parametrize("voice", VOICES)
@pytest.mark.parametrize(("hertz", "height"), [(440, 1500), (1000, 9000), (1400, 20000)])
def test_a_machine_may_be_spoken_to_once_its_beep_is_over(
    voice: str, hertz: float, height: int
) -> None:
    before = silence(0.3) + spoken(GREETING, voice) + silence(0.4)
    beep = tone(hertz, 0.3, height)
    who, decided, may_speak = listened(noisy(before + beep + silence(1), 30))
    assert who is AnsweredBy.VOICEMAIL
    assert decided is not None
    assert may_speak is not None
    assert decided < len(before) / RATE
    assert 0.0 <= may_speak - len(before + beep) / RATE < 0.2


def test_a_beep_alone_is_a_machine() -> None:
    beep = silence(0.5) + tone(850, 0.4)
    assert listened(beep + silence(1))[0] is AnsweredBy.VOICEMAIL


def test_a_machine_without_a_beep_is_spoken_to_after_a_long_silence() -> None:
    greeting = spoken(GREETING)
    who, _, may_speak = listened(greeting + silence(4))
    assert who is AnsweredBy.VOICEMAIL
    assert may_speak is not None
    assert 2.5 < may_speak - len(greeting) / RATE < 3.5


def test_silence_is_unknown() -> None:
    assert listened(noisy(silence(4), 40))[:2] == (AnsweredBy.UNKNOWN, 3.0)


def test_sound_arrives_in_pieces_of_any_size() -> None:
    sound, listener = spoken(GREETING) + tone(1000, 0.3) + silence(1), VoicemailDetector()
    for start in range(0, len(sound), 777):
        listener.hear(sound[start : start + 777])
    assert (listener.answered_by, listener.may_speak) == (AnsweredBy.VOICEMAIL, True)


@pytest.mark.parametrize("rate", [16000, 22050, 44100])
def test_any_sample_rate_becomes_that_of_the_telephone(rate: int) -> None:
    """A tone stays itself; what a telephone can't carry is gone rather than folded back."""
    wave = tone(1000 * RATE / rate, 0.5 * rate / RATE)
    made = to_telephone(wave, rate)
    assert len(made) == RATE // 2
    assert likeness(tone(1000, 0.2), made, RATE // 10)[0] > 0.999
    high = to_telephone(tone(6500 * RATE / rate, 0.5 * rate / RATE), rate)
    assert max(map(abs, high[200:-200])) < 200


def test_a_recording_is_played_for_its_text(tmp_path: Path) -> None:
    sounds = tmp_path / "sounds"
    sounds.mkdir()
    prepare("Good morning.", sounds / "greeting.wav", espeak="espeak-ng", voice="de")
    (sounds / "greeting.txt").write_text("Hello, this is Harbour Dental.\n")
    made = tmp_path / "made.wav"
    prepare(
        "Hello, this is Harbour Dental.",
        made,
        espeak="/absent",
        voice="en-us",
        sounds=sounds,
    )
    recorded = read_sound(sounds / "greeting.wav")
    assert read_sound(made)[: len(recorded)] == recorded
    with pytest.raises(CannotSpeak, match="espeak-ng could not speak the message"):
        prepare("Other words.", made, espeak="/absent", voice="en-us", sounds=sounds)
