#!/bin/sh
echo "item $1"
exit "$1"
