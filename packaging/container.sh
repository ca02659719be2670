#!/usr/bin/env bash
# Build deploy/Containerfile and crawl with it, where no registry of images can be reached: the base
# is a Debian made by debootstrap, packages come from a folder that pip fills beforehand.
# Needs root, buildah, debootstrap and a Python of the same version as that Debian's; takes two to
# three minutes. What is missing is said in one line, and ends well.
#
#   bash packaging/container.sh
set -euo pipefail
cd "$(dirname "$0")/.."
suite=bookworm
for tool in buildah debootstrap; do
  if ! command -v "$tool" >/dev/null || [ "$(id -u)" != 0 ]; then
    echo "the container is not built: this needs root, buildah and debootstrap"
    exit 0
  fi
done

if [ "$(python3 -c 'import sys; print(sys.version_info[:2])')" != "(3, 11)" ]; then
  echo "the container is not built: $suite has Python 3.11, python3 here is another"
  exit 0
fi

export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
work=$(mktemp -d)
storage=(--root "$work/storage" --runroot "$work/run")
site="" crawl=""
ended() {
  for process in $crawl $site; do
    kill "$process" 2>/dev/null || true
    wait "$process" 2>/dev/null || true
  done
  buildah "${storage[@]}" rm --all >/dev/null 2>&1 || true
  umount "$work/storage/overlay" 2>/dev/null || true
  rm -rf "$work"
}
trap ended EXIT

if ! debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates "$suite" "$work/base" >"$work/log"; then
  echo "the container is not built: debootstrap could not have a Debian"
  exit 0
fi
ln -sf python3 "$work/base/usr/bin/python"
rm -rf "$work/base/var/cache/apt/archives" "$work/base/var/lib/apt/lists"
# The names of the image that the Containerfile begins with, for one that stands in for it.
name=$(sed -n 's/^FROM \([^ ]*\) AS build$/\1/p' deploy/Containerfile)
printf 'FROM scratch\nCOPY base /\n' >"$work/Containerfile"
buildah "${storage[@]}" bud --quiet -t "localhost/$name" -f "$work/Containerfile" "$work" >/dev/null

mkdir "$work/wheels" "$work/source"
python3 -m pip download --quiet --disable-pip-version-check -d "$work/wheels" . hatchling
printf '[global]\nno-index = true\nfind-links = /wheels\n' >"$work/pip.conf"
git ls-files -z --cached --others --exclude-standard deploy src pyproject.toml README.md LICENSE \
  requirements.lock | xargs -0 cp --parents -t "$work/source"
(cd "$work/source" && buildah "${storage[@]}" bud --quiet --pull-never --format docker -t recrawl \
  -v "$work/wheels:/wheels:ro" -v "$work/pip.conf:/etc/pip.conf:ro" -f deploy/Containerfile .)

# A site, its configuration, and the image's own command.
mkdir "$work/web" "$work/config"
echo '<title>Owl</title><main>An owl sees in the dark.</main>' >"$work/web/index.html"
python3 -m http.server --directory "$work/web" --bind 127.0.0.1 8765 >/dev/null 2>&1 &
site=$!
cat >"$work/config/recrawl.toml" <<'TOML'
seeds = ["http://127.0.0.1:8765/"]
contact = "mailto:tester@site.test"
state = "/state"
[politeness]
allow_private = ["127.0.0.1"]
TOML
chmod 0755 "$work" "$work/config"
container=$(buildah "${storage[@]}" from --pull-never recrawl)
mapfile -t command < <(buildah "${storage[@]}" inspect --format \
  '{{range .OCIv1.Config.Entrypoint}}{{println .}}{{end}}{{range .OCIv1.Config.Cmd}}{{println .}}{{end}}' \
  "$container" | sed '/^$/d')
buildah "${storage[@]}" run -v "$work/config:/config:ro" "$container" -- "${command[@]}" 2>"$work/crawl.log" &
crawl=$!
within() { buildah "${storage[@]}" run "$container" -- "$@"; }
for _ in $(seq 60); do
  sleep 1
  if within recrawl search --state /state "owl in the dark" 2>/dev/null | grep -q Owl; then
    within python -c "import urllib.request as u; u.urlopen('http://127.0.0.1:9464/metrics', timeout=4)"
    [ "$(within id -u)" = 10001 ]
    echo "the container was built, and crawled, searched and was healthy as user 10001"
    exit 0
  fi
done
echo "the container was built, and its crawl cannot be searched:" >&2
cat "$work/crawl.log" >&2
exit 1
