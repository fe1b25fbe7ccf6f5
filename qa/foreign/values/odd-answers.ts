import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import type { SeededRandom } from "../../support/seeded-random.ts";

/** An answer that no caller wants. It may never end: the caller has to end it. */
export type OddAnswer = (response: ServerResponse, chance: SeededRandom) => void;

const MIB = 2 ** 20;
const JSON_TYPE = { "content-type": "application/json" };

const said =
  (make: (chance: SeededRandom) => string | Buffer, headers: Readonly<Record<string, string>> = JSON_TYPE): OddAnswer =>
  (response, chance) =>
    void response.writeHead(200, headers).end(make(chance));

/** Answers of the right shape with wrong values, which each call reads its own part of. */
const shaped = (record: string, more = ""): string =>
  `{"records":[${record}],"events":[{"model":"task","id":"x"}],"results":[],"cursor":null${more}}`;

/** Writes the same piece again and again, until the other side has had enough. */
const endless =
  (piece: string | Buffer, begin: string, everyMs?: number): OddAnswer =>
  (response) => {
    response.writeHead(200, JSON_TYPE).write(begin);
    const more = () => {
      while (!response.destroyed && response.write(piece) && everyMs === undefined);
      if (!response.destroyed) everyMs === undefined ? response.once("drain", more) : setTimeout(more, everyMs);
    };
    more();
  };

const STATUSES = [201, 204, 301, 401, 403, 404, 410, 413, 429, 500, 503, 599, 999];

export const ODD_ANSWERS: Readonly<Record<string, OddAnswer>> = {
  large: said((chance) => shaped(`{"id":"x","data":{"title":"${"x".repeat(chance.oneOf([16, 17, 40, 64]) * MIB)}"}}`)),
  manyRecords: said(() => shaped(Array(60_000).fill('{"id":"x","data":{"title":"x"}}').join(","))),
  manyArrays: said(() => `{"records":[${"[],".repeat(3_000_000)}[]]}`),
  deep: said((chance) => {
    const depth = chance.oneOf([100, 10_000, 1_000_000]);
    return shaped(`{"id":"x","data":{"title":"x","more":${"[".repeat(depth)}${"]".repeat(depth)}}}`);
  }),
  noJson: said((chance) =>
    chance.oneOf(["", "{", "null", '"x"', "[]", "NaN", "{}{}", "\u0000", "<html>", "[".repeat(200_000)]),
  ),
  noText: said(() => Buffer.from([0x7b, 0x22, 0xff, 0xc0, 0xaf, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d])),
  wrongTypes: said((chance) =>
    chance.oneOf([
      '{"records":null,"events":null,"results":null,"cursor":null}',
      '{"records":[null,1,[]],"events":[null],"results":[null],"cursor":1}',
      '{"records":[{"id":1,"data":[]}],"events":[{"model":1,"id":null}],"results":[{"clientTxId":1,"status":"maybe"}],"cursor":{}}',
      '{"records":{"length":100000000},"events":{"length":-1},"results":{"length":1},"cursor":null}',
    ]),
  ),
  wrongValues: said((chance) =>
    chance.oneOf([
      shaped('{"id":"__proto__","data":{"__proto__":{"a":1},"title":"x"}},{"id":"","data":{}}'),
      shaped(String.raw`{"id":"\ud800","data":{"title":"\u0000"}},{"id":"y","data":{"title":"\udc00"}}`),
      shaped(`{"id":"${"i".repeat(100_000)}","data":{"title":1e400}}`),
      shaped(Array(100).fill('{"id":"x","data":{"title":"twice"}}').join(",")),
      shaped("", `,"cursor":"${"c".repeat(MIB)}","more":true`),
      shaped("", `,"cursor":"again","more":true`),
      `{"results":[{"clientTxId":"x","status":"refused","message":"${"m".repeat(MIB)}"}],"records":[],"events":[],"cursor":null}`,
    ]),
  ),
  tooLong: said(() => shaped(""), { ...JSON_TYPE, "content-length": "4000000000" }),
  tooShort: (response) => void response.socket?.end(`HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n${shaped("")}`),
  gzip: said(() => gzipSync(Buffer.alloc(32 * MIB, " ")), { ...JSON_TYPE, "content-encoding": "gzip" }),
  noGzip: said(() => shaped(""), { ...JSON_TYPE, "content-encoding": "gzip, br, x" }),
  onlyBlanks: endless(Buffer.alloc(65_536, " "), "{"),
  endless: endless('{"id":"x","data":{"title":"x"}},'.repeat(100), '{"records":['),
  tinyPieces: endless("1\r\n \r\n", "", 1),
  bytes: (response) => {
    response.socket?.setNoDelay(true);
    response.writeHead(200, JSON_TYPE);
    for (const byte of Buffer.from(shaped(`{"id":"x","data":{"title":"${"x".repeat(50_000)}"}}`)))
      response.write(Buffer.from([byte]));
    response.end();
  },
  status: (response, chance) =>
    void response
      .writeHead(chance.oneOf(STATUSES), { location: "http://127.0.0.1:1/" })
      .end("x".repeat(chance.oneOf([0, MIB]))),
  noAnswer: () => {},
  broken: (response) =>
    void response.writeHead(200, JSON_TYPE).write(shaped("").slice(0, 20), () => response.socket?.resetAndDestroy()),
  noHttp: (response) => void response.socket?.end(Buffer.alloc(MIB, "\u0001HTTP")),
  hints: (response) =>
    void response.socket?.end(
      `${"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n".repeat(20_000)}HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}`,
    ),
  largeHeaders: (response) =>
    void response.socket?.end(`HTTP/1.1 200 OK\r\n${`x: ${"y".repeat(1_000)}\r\n`.repeat(2_000)}\r\n{}`),
};

export const oddAnswer = (chance: SeededRandom): string => chance.oneOf(Object.keys(ODD_ANSWERS));
