#!/usr/bin/env node
// The program of the published package. With a command it administers a server; without one it is the server.
import { ownEnvFile, takeEnvFile } from "./cli/env-file.ts";

const { words, file = ownEnvFile(process.cwd()) } = takeEnvFile(process.argv.slice(2));
try {
  // What is set already stays.
  if (file !== undefined) process.loadEnvFile(file);
  process.argv.splice(2, process.argv.length, ...words);
  const [word] = words;
  const isServer = word === undefined || ["--help", "-h", "--new-key", "--new-master-key"].includes(word);
  await (isServer ? import("./main.ts") : import("./cli.ts"));
} catch (error) {
  if ((error as NodeJS.ErrnoException).syscall !== "open") throw error;
  process.stderr.write(`holdfast: ${file} cannot be read: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
