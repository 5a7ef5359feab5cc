"""The command `lehr`: the program that the package holds."""

import os
import sys

from ._program import Error, environment, program
from ._progress import tell


def main() -> None:
    try:
        found = program()
    except Error as error:
        tell(f"lehr: {error}")
        sys.exit(error.exit_code)
    os.execve(found, ["lehr", *sys.argv[1:]], environment())


if __name__ == "__main__":
    main()
