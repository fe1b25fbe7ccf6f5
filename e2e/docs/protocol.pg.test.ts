import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { startPeople } from "../clients/people.ts";

const PAGE = new URL("../../docs/protocol.md", import.meta.url);
const WIDTH = 170;
const sections = new URL("../../packages/conformance/src/sections/", import.meta.url);
const groups = new Set(
  readdirSync(sections, { recursive: true, encoding: "utf8" }).map((file) => basename(file, ".ts")),
);
const people = await startPeople();

/** What differs from run to run, as the page shows it. */
const STABLE: readonly (readonly [RegExp, string])[] = [
  [/http:\/\/127\.0\.0\.1:\d+/g, "http://127.0.0.1:8787"],
  [/\b((?:log|org|ses|claim|req|stx|eph|ek|key)_)[A-Za-z0-9_-]{8,}/g, "$1…"],
  [/\b20\d\d-\d\d-\d\dT[\d:.]+Z/g, "2026-01-01T12:00:00.000Z"],
  [/("expiresInMs":)\d+/g, "$160000"],
  [/("(?:viewHash|view|hash)":)"[^"]*"/g, '$1"…"'],
];

const shown = (text: string) => STABLE.reduce((said, [found, instead]) => said.replace(found, instead), text);

/** A line of JSON without what differs, broken where a name begins so that it can be read. */
function wrapped(json: string): string {
  let width = 0;
  return shown(json)
    .split(/(?<=[,{[])(?="(?:[^"\\]|\\.)*":|\{)/)
    .map((piece) => {
      const isOver = width + piece.length > WIDTH;
      width = (isOver ? 4 : width) + piece.length;
      return isOver ? `\n    ${piece}` : piece;
    })
    .join("");
}

const examples = new Map<string, string>();

/** "x": what the exchange needs and the page does not show. */
async function ask(name: string, token: string, method: string, path: string, body?: object): Promise<string> {
  const sent = body && JSON.stringify(body);
  const answer = await fetch(people.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(sent && { "content-type": "application/json" }) },
    ...(sent && { body: sent }),
  });
  const text = await answer.text();
  const lines = text.trimEnd().split("\n").map(wrapped);
  const said = [`${method} ${path}`, ...(sent ? [wrapped(sent)] : []), `→ ${answer.status}`, ...lines];
  examples.set(name, said.join("\n"));
  return text;
}

/** A socket, and what was said on it: `>` by the client, `<` by the server. */
async function openSocket() {
  const socket = new WebSocket(`${people.url.replace("http", "ws")}/v1/stream`, "holdfast.v1");
  const heard: string[] = [];
  let wake = () => {};
  socket.on("message", (data) => {
    heard.push(String(data));
    wake();
  });
  await new Promise((resolve) => socket.once("open", resolve));
  return {
    say: (frame: object) => socket.send(JSON.stringify(frame)),
    async hear(frame: string): Promise<string> {
      for (;;) {
        const at = heard.findIndex((text) => JSON.parse(text).frame === frame);
        if (at >= 0) return heard.splice(0, at + 1).at(-1) ?? "";
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    closed: () => new Promise<number>((resolve) => socket.once("close", resolve)),
    close: () => socket.close(),
  };
}

const frames = (name: string, ...said: readonly (readonly [">" | "<", object | string])[]) =>
  examples.set(
    name,
    said.map(([by, frame]) => `${by} ${wrapped(typeof frame === "string" ? frame : JSON.stringify(frame))}`).join("\n"),
  );

test("[DP10] every example on the protocol page is what a server and a client say", async () => {
  const key = people.key;
  const minted = await ask("token", key, "POST", "/v1/ephemeral_keys", {
    user: { id: "ann" },
    syncGroups: ["deck:d1"],
  });
  const { token } = JSON.parse(minted) as { token: string };
  const agent = { participantId: "bot", operations: ["slide.*"], syncGroups: ["deck:d1"] };
  expect(JSON.parse(await ask("x", key, "POST", "/v1/capabilities", agent))).toMatchObject(agent);
  expect(readFileSync(PAGE, "utf8")).toContain(`\`${JSON.stringify(agent)}\``);
  await ask("x", key, "POST", "/v1/models/slide", { id: "s1", data: { deckId: "d1", title: "Draft" } });
  const snapshot = await ask("snapshot", token, "GET", "/v1/snapshot?model=slide");
  const { logId, viewHash } = JSON.parse(snapshot.split("\n")[0] ?? "") as { logId: string; viewHash: string };

  const asked = {
    where: { or: [{ title: { startsWith: "Dr" } }, { order: { gte: 3 } }] },
    orderBy: ["title", "id"],
    limit: 20,
  };
  await ask("query", token, "POST", "/v1/models/slide/query", asked);
  await ask("query-count", token, "POST", "/v1/models/slide/query", { count: true, countBy: "title", limit: 0 });
  await ask("query-refused", token, "POST", "/v1/models/slide/query", { where: { or: [{ title: { contains: 3 } }] } });

  const stream = await openSocket();
  const hello = { frame: "hello", token, clientId: "phone-1", log: logId, since: 1, view: viewHash, models: ["slide"] };
  stream.say(hello);
  frames("hello", [">", hello], ["<", await stream.hear("welcome")]);

  const rename = (clientTxId: string, title: string, readAt: number, ...more: readonly object[]) => ({
    clientTxId,
    clientId: "phone-1",
    logId,
    operations: [{ action: "update", model: "slide", id: "s1", data: { title }, readAt, onStale: "notify" }, ...more],
  });
  await ask("commit", token, "POST", "/v1/commits", rename("phone-1-1", "Plan", 1));
  frames("entries", ["<", await stream.hear("entries")]);
  await ask("x", token, "GET", "/v1/commits/phone-1-1");
  expect(await ask("x", token, "PATCH", "/v1/models/slide/s1", { data: { title: null } })).toContain(
    "validation_error",
  );

  await ask("x", key, "PATCH", "/v1/models/slide/s1", { data: { title: "The plan" } });
  await stream.hear("entries");
  const second = { action: "create", model: "slide", id: "s2", data: { deckId: "d1" } };
  await ask("stale", token, "POST", "/v1/commits", rename("phone-1-2", "Plan B", 2, second));
  expect(await ask("x", token, "POST", "/v1/commits", rename("phone-1-3", "Plan B", 3, second))).toContain("confirmed");
  await stream.hear("entries");
  await ask("bulk", token, "POST", "/v1/commits/bulk", {
    commits: [
      { ...rename("phone-1-4", "Plan C", 5) },
      { clientTxId: "phone-1-5", operations: [{ action: "create", model: "slide", id: "s1", data: { deckId: "d1" } }] },
    ],
  });
  await stream.hear("entries");

  const call = { frame: "call", n: 1, name: "readCommit", params: { clientTxId: "phone-1-1" } };
  stream.say(call);
  frames("call", [">", call], ["<", await stream.hear("answer")]);

  const ofDeck = (id: string, deckId: string) => ({ id, model: "slide", where: { deckId } });
  const inParts = await openSocket();
  const { models: _, clientId: __, ...known } = { ...hello, since: 6 };
  const withParts = { ...known, parts: [ofDeck("p1", "d1")] };
  inParts.say(withParts);
  const welcomed = await inParts.hear("welcome");
  expect(JSON.parse(welcomed)).toMatchObject({ parts: 500, models: ["slide"] });
  const more = { frame: "subscribe", parts: [{ ...ofDeck("p2", "d2"), since: 3 }, ofDeck("p3", "d3")] };
  inParts.say(more);
  const gone = { frame: "unsubscribe", ids: ["p1"] };
  const behind = await inParts.hear("subscribed");
  const unread = await inParts.hear("subscribed");
  const missed = await inParts.hear("partEntries");
  inParts.say(gone);
  frames(
    "parts",
    [">", withParts],
    [">", more],
    ["<", behind],
    ["<", unread],
    ["<", missed],
    [">", gone],
    ["<", await inParts.hear("unsubscribed")],
  );
  const like = { frame: "subscribe", parts: [{ id: "p4", model: "slide", where: { title: { startsWith: "Dr" } } }] };
  inParts.say(like);
  frames("part-refused", [">", like], ["<", await inParts.hear("refused")]);
  inParts.close();

  const watch = { frame: "watch", model: "slide", ids: ["s1"] };
  stream.say(watch);
  await stream.hear("claims");
  const claimed = await ask("claim", token, "POST", "/v1/models/slide/s1/claim", { ttl: "1m", clientId: "phone-1" });
  const claim = JSON.parse(claimed) as { id: string; fence: number };
  frames("watch", [">", watch], ["<", await stream.hear("claims")]);
  await ask("claimed", token, "POST", "/v1/commits", {
    clientTxId: "phone-1-6",
    clientId: "phone-1",
    operations: [
      {
        action: "update",
        model: "slide",
        id: "s1",
        data: { title: "Plan D" },
        claim: claim.id,
        fenceToken: claim.fence,
      },
    ],
  });
  await ask("x", token, "POST", `/v1/claims/${claim.id}/renew`, { ttl: "1m" });
  await ask("x", token, "DELETE", `/v1/claims/${claim.id}`);

  const enter = { frame: "presence", room: "deck:d1", state: { editing: "s1" } };
  stream.say(enter);
  frames("presence", [">", enter], ["<", await stream.hear("presence")]);
  const ping = { frame: "ping", n: 1 };
  stream.say(ping);
  frames("ping", [">", ping], ["<", await stream.hear("pong")]);
  stream.close();

  await ask("log", token, "GET", "/v1/log?after=5&limit=1");
  await ask("error", token, "GET", "/v1/models/slide/missing");
  const again = await openSocket();
  const other = { frame: "hello", token, log: "log_of_another_server", since: 5, models: ["slide"] };
  again.say(other);
  frames("resync", [">", other], ["<", await again.hear("resync")]);
  const refused = await openSocket();
  const bad = { frame: "hello", token: "ek_wrong" };
  refused.say(bad);
  const closed = refused.closed();
  frames("refused", [">", bad], ["<", await refused.hear("error")], ["<", `(closed with ${await closed})`]);
  again.close();
  await expect(withExamples(readFileSync(PAGE, "utf8"))).toMatchFileSnapshot(PAGE.pathname);
});

test("[DP10] every group that the protocol page names is one of the conformance suite", () => {
  const named = [...readFileSync(PAGE, "utf8").matchAll(/^Checked by (.*)\.$/gm)].flatMap(([, names = ""]) =>
    [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => !groups.has(name ?? ""))).toEqual([]);
});

/** The page, with what was said in place of each example. `vitest -u` writes it. */
const withExamples = (page: string): string =>
  page.replace(/<!-- example: (.*) -->\n(?:```text\n[\s\S]*?\n```\n)?/g, (_, name: string) => {
    const said = examples.get(name);
    if (said === undefined) throw new Error(`The exchange has no example ${name}.`);
    return `<!-- example: ${name} -->\n\`\`\`text\n${said}\n\`\`\`\n`;
  });
