# Sourced by the other scripts: installs this project into a virtual environment in .venv.
# Usage, from the top of the repository: extra=NAME (or nothing); . scripts/env.sh
# (No positional parameters: a sourced file without any would see those of its script.)

python=""
for candidate in "${PYTHON:-}" python3 python3.13 python3.12 python3.11 python; do
    if [ -n "$candidate" ] && command -v "$candidate" >/dev/null 2>&1 &&
        "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        python="$candidate"
        break
    fi
done
if [ -z "$python" ]; then
    echo "channelsim needs Python 3.11 or newer; none was found (set PYTHON to name one)" >&2
    exit 2
fi
[ -x .venv/bin/python ] || "$python" -m venv .venv
# The stamp lets a second run skip the installation.
stamp=".venv/.channelsim${extra:+-$extra}"
if ! cmp -s pyproject.toml "$stamp"; then
    .venv/bin/python -m pip install --quiet --disable-pip-version-check \
        --editable ".${extra:+[$extra]}"
    cp pyproject.toml "$stamp"
fi
