"""The TwiML documents that control a call at Twilio."""

import re
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from twilio.twiml.voice_response import VoiceResponse

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def say(text: str, hand_over_to: str | None = None, call_id: UUID | None = None) -> str:
    """Speak the text; then connect a voice address, or hang up.

    ``sip:`` addresses are called, streams (``wss:``) are connected. The voice engine gets
    ``call_id`` for its reports: in the SIP header ``X-Call-Id``, or the stream's parameter
    ``callId``.
    """
    from twilio.twiml.voice_response import (
        Connect,
        Dial,
        VoiceResponse,
    )

    response = VoiceResponse()
    if text:
        response.say(_NOT_IN_XML.sub("", text))
    if hand_over_to and hand_over_to.lower().startswith(("sip:", "sips:")):
        dial = Dial()
        separator = "&" if "?" in hand_over_to else "?"
        dial.sip(f"{hand_over_to}{separator}X-Call-Id={call_id}" if call_id else hand_over_to)
        response.append(dial)
    elif hand_over_to:
        connect = Connect()
        stream = connect.stream(url=hand_over_to)
        if call_id:
            stream.parameter(name="callId", value=str(call_id))
        response.append(connect)
    response.hangup()
    return _to_xml(response)


def hang_up() -> str:
    """End the call without a message."""
    from twilio.twiml.voice_response import VoiceResponse

    response = VoiceResponse()
    response.hangup()
    return _to_xml(response)


def _to_xml(response: "VoiceResponse") -> str:
    # A bare carriage return would reach the other side as a line feed.
    text = ET.tostring(response.xml(), encoding="unicode").replace("\r", "&#13;")
    return f'<?xml version="1.0" encoding="UTF-8"?>{text}'
