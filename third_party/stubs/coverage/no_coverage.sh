#!/bin/sh
echo "coverage reports are not available in this workspace" >&2
exit 1
