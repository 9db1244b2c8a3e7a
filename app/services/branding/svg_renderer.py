"""Draw the SVG of the standard input as a PNG on the standard output: ``svg_renderer.py W H``.

It runs as a program: a picture that needs too much memory ends its process, and only that.
"""

import resource
import sys

MEMORY_BYTES = 768 * 1024 * 1024
CPU_SECONDS = 5


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    import resvg_py  # under the limits

    width, height = map(int, sys.argv[1:])
    picture = resvg_py.svg_to_bytes(
        svg_string=sys.stdin.buffer.read().decode(),
        width=width,
        height=height,
        skip_system_fonts=True,
    )
    sys.stdout.buffer.write(bytes(picture))


if __name__ == "__main__":
    main()
