"""Writers of the texts of calls."""

from app.config import Settings
from app.gateways.writers.base import MessageWriter
from app.gateways.writers.openai import OpenAiWriter
from app.gateways.writers.template import TemplateWriter


def open_writer(settings: Settings) -> MessageWriter:
    if settings.writer == "openai":
        return OpenAiWriter(
            url=settings.writer_url,
            key=settings.writer_key,
            model=settings.writer_model,
            seconds=settings.writer_seconds,
            max_characters=settings.writer_characters,
            otherwise=TemplateWriter(),
        )
    return TemplateWriter()
