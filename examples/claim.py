#!/usr/bin/env python3
"""Do something once from Python, by the HTTP API of ibid alone: claim, do it, settle.

    IBID_URL=http://127.0.0.1:7878 IBID_KEY=ibid_... python3 claim.py order-1042 refunds.txt

The effect is a line in a file. A worker that dies between claim and settle is taken over once its lease has lapsed: the
next one is told to look first (`checkFirst`), finds the line or does not, and goes on from there.
"""
import json
import os
import secrets
import sys
import time
import urllib.error
import urllib.request

URL = os.environ["IBID_URL"]
KEY = os.environ["IBID_KEY"]
LEASE = os.environ.get("IBID_LEASE", "30s")


def call(path, body):
    """The answer's status and body. A connection that breaks is tried again: the same call, with the same token."""
    request = urllib.request.Request(
        URL + path,
        data=json.dumps(body).encode(),
        headers={"authorization": f"Bearer {KEY}", "content-type": "application/json"},
    )
    while True:
        try:
            with urllib.request.urlopen(request, timeout=90) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            problem = json.load(error)
            if error.code not in (429, 503):
                return error.code, problem
        except (urllib.error.URLError, OSError):
            pass
        time.sleep(0.2)


def find(file, order):
    """What a downstream would be asked: was it done under this key?"""
    if not os.path.exists(file):
        return None
    with open(file, encoding="utf-8") as lines:
        return next((json.loads(line) for line in lines if json.loads(line)["order"] == order), None)


def refund(file, order):
    refunded = {"order": order, "refund": "re_" + secrets.token_hex(4)}
    with open(file, "a", encoding="utf-8") as lines:
        lines.write(json.dumps(refunded) + "\n")
        lines.flush()
        os.fsync(lines.fileno())
    return refunded


def pause(point):
    """For whoever wants to see what happens when this program dies here."""
    if os.environ.get("IBID_PAUSE_AT") == point:
        print(f"pausing {point}", flush=True)
        time.sleep(3600)


def main(order, file):
    where = {"scope": "refund", "key": order}
    if "IBID_TENANT" in os.environ:
        where["tenant"] = os.environ["IBID_TENANT"]
    intent = {**where, "payload": {"order": order}, "recovery": "check", "lease": LEASE, "wait": "20s"}
    while True:
        # A new token for every attempt; it is used again only where the answer was lost, by call().
        status, claim = call("/v1/claims", {**intent, "token": secrets.token_hex(16)})
        if status == 409 and claim["retriable"]:
            continue
        break
    if status not in (200, 201):
        sys.exit(f"{claim['code']}: {claim['detail']}\n{claim['action']}")
    if claim["outcome"] != "claimed":
        print(json.dumps({"replayed": True, "value": claim.get("value")}))
        return
    pause("claimed")
    value = find(file, order) if claim["checkFirst"] else None
    value = value or refund(file, order)
    pause("done")
    status, settled = call("/v1/claims/settle", {**where, "token": claim["token"], "value": value})
    if status != 200:
        sys.exit(f"{settled['code']}: {settled['detail']}\n{settled['action']}")
    print(json.dumps({"replayed": False, "value": value}))


if __name__ == "__main__":
    main(*sys.argv[1:3])
