"""Draw the SVG of the standard input as a PNG on the standard output: ``svg_renderer.py W H
FONT…``.

It runs as a separate program: a picture that needs too much memory ends only that process.
"""

import resource
import sys

MEMORY_BYTES = 768 * 1024 * 1024
CPU_SECONDS = 5
STYLE = "text, text * { font-family: Inter !important }"
"""Text in a font that isn't loaded would be left out."""


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    import resvg_py  # under the limits

    width, height, *fonts = sys.argv[1:]
    picture = resvg_py.svg_to_bytes(
        svg_string=sys.stdin.buffer.read().decode(),
        width=int(width),
        height=int(height),
        skip_system_fonts=True,
        font_files=fonts,
        style_sheet=STYLE,
    )
    sys.stdout.buffer.write(bytes(picture))


if __name__ == "__main__":
    main()
