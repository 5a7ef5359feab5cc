"""The command `lehr`: the program that the package holds."""

import os
import sys

from ._program import Error, program


def main():
    try:
        found = program()
    except Error as error:
        print(f"lehr: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    os.execv(found, ["lehr", *sys.argv[1:]])


if __name__ == "__main__":
    main()
