import { expect, test } from "vitest";
import { type Found, planRegistration } from "./plan-registration.ts";

const name = "The demo's mirror in /data";
const url = "http://127.0.0.1:1/webhooks";
const kept = { id: "we_1", url, secret: "whsec_" };
const ours = { id: "we_1", url, status: "enabled" as const, attempt: 0, cursor: 7, description: name };
const theirs = { ...ours, id: "we_9", description: null };
const found = (change: Partial<Found>): Found => ({
  kept,
  endpoints: [theirs, ours],
  name,
  url,
  position: 7,
  ...change,
});

test.each<[string, Partial<Found>, object[]]>([
  ["it is there, and all is as it was", {}, []],
  ["the copy is ahead: an answer was lost", { position: 9 }, []],
  ["there is none", { endpoints: [theirs], kept: undefined, position: 0 }, [{ do: "register", from: 0 }]],
  ["it was removed there", { endpoints: [theirs] }, [{ do: "register", from: 7 }]],
  ["the secret is lost", { kept: undefined }, [{ do: "roll", id: "we_1" }]],
  [
    "it listens elsewhere now",
    { url: "http://127.0.0.1:2/" },
    [{ do: "move", id: "we_1", url: "http://127.0.0.1:2/" }],
  ],
  ["it was given up", { endpoints: [{ ...ours, status: "disabled" }] }, [{ do: "enable", id: "we_1" }]],
  ["it is waited for", { endpoints: [{ ...ours, attempt: 3 }] }, [{ do: "enable", id: "we_1" }]],
  [
    "the copy is lost",
    { position: 0 },
    [
      { do: "delete", id: "we_1" },
      { do: "register", from: 0 },
    ],
  ],
  [
    "an earlier start left a second one",
    { endpoints: [{ ...ours, id: "we_0" }, ours, theirs] },
    [{ do: "delete", id: "we_0" }],
  ],
  [
    "all of that",
    {
      kept: undefined,
      endpoints: [
        { ...ours, cursor: 9 },
        { ...ours, id: "we_2" },
      ],
    },
    [
      { do: "delete", id: "we_1" },
      { do: "delete", id: "we_2" },
      { do: "register", from: 7 },
    ],
  ],
])("%s", (_, change, steps) => {
  expect(planRegistration(found(change))).toEqual(steps);
});
