"""`python -m clsp build` compiles the programs; `python -m clsp check` proves them fresh."""

import sys

from channelsim.clsp.build import build, stale
from channelsim.clsp.compiler import CompileError

USAGE = "usage: python -m clsp build | check"


def main(arguments: list[str]) -> int:
    """Run one command; the exit code is 0, 1 for stale or broken programs, 2 for wrong use."""
    try:
        match arguments:
            case ["build"]:
                for name, program in build().items():
                    print(f"{program.hash.hex()}  {len(program.serialized):>5} bytes  {name}")
                return 0
            case ["check"]:
                complaints = stale()
                for complaint in complaints:
                    print(complaint, file=sys.stderr)
                if complaints:
                    print("run: python -m clsp build", file=sys.stderr)
                return 1 if complaints else 0
            case _:
                print(USAGE, file=sys.stderr)
                return 2
    except CompileError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
