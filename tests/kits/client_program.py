#!/usr/bin/env python3
"""Calls a client of w8yd for the tests: reads a JSON array of calls from each line, makes them at once, and writes
an array of results.

Usage: client_program.py sync|asyncio ADDRESS OPTIONS
"""
import asyncio
import base64
import datetime
import json
import sys
from concurrent.futures import ThreadPoolExecutor

import w8y_client


def decoded(value):
    if isinstance(value, list):
        return [decoded(one) for one in value]
    if isinstance(value, dict):
        return base64.b64decode(value["bytes"])
    return value


def encoded(value):
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, datetime.datetime):
        return int(value.timestamp() * 1000)
    if isinstance(value, list):
        return [encoded(one) for one in value]
    return value


def error_of(error):
    return {"error": type(error).__name__, "text": str(error), "status": getattr(error, "status", None),
            "maybe_applied": getattr(error, "maybe_applied", None), "entries": getattr(error, "entries", None),
            "reason": getattr(error, "reason", None), "run": getattr(error, "run", None),
            "result": encoded(getattr(error, "result", None))}


def call(client, name, args, options):
    return getattr(client, name)(*map(decoded, args), **options)


def sync_main(client):
    def one(request):
        try:
            return {"value": encoded(call(client, *request))}
        except Exception as error:
            return error_of(error)

    with ThreadPoolExecutor(32) as pool:
        for line in sys.stdin:
            print(json.dumps(list(pool.map(one, json.loads(line)))), flush=True)


async def async_main(client):
    async def one(request):
        try:
            return {"value": encoded(await call(client, *request))}
        except Exception as error:
            return error_of(error)

    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        print(json.dumps(await asyncio.gather(*map(one, json.loads(line)))), flush=True)


def main(kind, address, options):
    make = {"sync": w8y_client.Client, "asyncio": w8y_client.AsyncClient}[kind]
    try:
        client = make(address, **json.loads(options))
    except ValueError as error:
        print(json.dumps([error_of(error)]), flush=True)
        return
    if kind == "sync":
        sync_main(client)
    else:
        asyncio.run(async_main(client))


main(*sys.argv[1:])
