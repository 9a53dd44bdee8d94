"""Where Python modules go.

    python3 pythondir.py PREFIX          the folder for them below PREFIX: one that this Python searches, if
                                         there is any there
    python3 pythondir.py --note FOLDER   says so if this Python does not search FOLDER
"""

import os
import re
import site
import sys
import sysconfig


def searched():
    """Folders that this Python searches, whether they exist already or not; those of PYTHONPATH, too."""
    user = [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
    return [os.path.abspath(path) for path in site.getsitepackages() + user + sys.path[1:]]


def folder_below(prefix):
    own = re.compile(re.escape(prefix) + r"/lib\w*/python[\d.]*/(?:dist|site)-packages$")
    scheme = "posix_prefix"  # Debian's default one would add a folder "local"
    return next(filter(own.match, searched()), None) or sysconfig.get_path("purelib", scheme,
                                                                           {"base": prefix, "platbase": prefix})


if sys.argv[1] == "--note":
    if sys.argv[2] not in searched():
        print(f"The Python module petsc_kcycle is in a folder that {sys.executable} does not search. Let it:\n"
              f"  export PYTHONPATH={sys.argv[2]}${{PYTHONPATH:+:$PYTHONPATH}}")
else:
    print(folder_below(sys.argv[1]))
