#!/bin/sh
# Removes from a folder what nothing reads at run time, and gives all files one time: the same sources make the same layer.
set -eu
find "$1" -type f \( -name '*.map' -o -name '*.d.[cm]ts' -o -name '*.d.ts' -o -name '*.test.[cm]js' -o -name '*.test.js' \) -delete
find "$1" -exec touch --no-dereference --date="@${SOURCE_DATE_EPOCH:-0}" {} +
