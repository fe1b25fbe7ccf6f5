#!/usr/bin/env node
// The program of the published package. With a command it administers a server; without one it is the server.
const [word] = process.argv.slice(2);
const isServer = word === undefined || ["--help", "-h", "--new-key", "--new-master-key"].includes(word);
await (isServer ? import("./main.ts") : import("./cli.ts"));
