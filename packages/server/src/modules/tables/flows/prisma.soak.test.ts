import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startWithTables } from "../../../testing/attached-tables.ts";
import { attachAndFollow } from "../../../testing/waiting/follow-tables.ts";

// Prisma takes 300 MB, so it is installed for this test alone.
const PACKAGES = ["prisma@7.10.1", "@prisma/client@7.10.0", "@prisma/adapter-pg@7.10.1"];

const tables = await startWithTables();
const folder = mkdtempSync(join(tmpdir(), "holdfast-prisma-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (file: string, args: readonly string[]) =>
  promisify(execFile)(file, args, {
    cwd: folder,
    env: {
      ...{ PATH: process.env.PATH, HOME: process.env.HOME, DATABASE_URL: tables.app.databaseUrl },
      // Without it Prisma downloads an engine for its migrations, which nothing here needs.
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      ...{ CHECKPOINT_DISABLE: "1", PRISMA_HIDE_UPDATE_MESSAGE: "1" },
    },
  });

const SCHEMA = `
generator client {
  provider = "prisma-client-js"
}

datasource db {
  provider = "postgresql"
}

model Task {
  id    String @id
  title String?
  done  Int    @default(0)
  notes Note[]

  @@map("tasks")
}

model Note {
  id     Int    @id @default(autoincrement())
  text   String
  taskId String @map("task_id")
  task   Task   @relation(fields: [taskId], references: [id], onDelete: Cascade)

  @@map("notes")
}
`;

const PROGRAM = `
import { PrismaPg } from "@prisma/adapter-pg";
import { PrismaClient } from "@prisma/client";

const db = new PrismaClient({ adapter: new PrismaPg({ connectionString: process.env.DATABASE_URL }) });
await db.task.create({ data: { id: "a", title: "One", notes: { create: [{ text: "First" }, { text: "Second" }] } } });
await db.task.createMany({ data: [{ id: "b", title: "Two" }, { id: "c" }, { id: "a" }], skipDuplicates: true });
await db.task.upsert({ where: { id: "a" }, create: { id: "a" }, update: { title: "First", done: { increment: 2 } } });
await db.task.upsert({ where: { id: "d" }, create: { id: "d", title: "Four" }, update: { title: "Never" } });
await db.$transaction([
  db.task.updateMany({ data: { done: 1 }, where: { id: { in: ["b", "c"] } } }),
  db.task.delete({ where: { id: "d" } }),
]);
await db
  .$transaction(async (tx) => {
    await tx.task.deleteMany();
    throw new Error("given up");
  })
  .catch(() => {});
await db.$transaction(async (tx) => {
  await tx.task.update({ where: { id: "b" }, data: { id: "bb" } });
  await tx.$executeRaw\`update public.tasks set title = 'Raw' where id = 'c'\`;
});
await db.task.delete({ where: { id: "a" } });
await db.$disconnect();
`;

beforeAll(async () => {
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  writeFileSync(join(folder, "schema.prisma"), SCHEMA);
  writeFileSync(join(folder, "write.mjs"), PROGRAM);
  await run("npm", [
    ...["install", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"],
    ...PACKAGES,
  ]);
  await run("npx", ["prisma", "generate", "--schema", "schema.prisma"]);
}, 600_000);

test("[DS3] rows that Prisma writes: nested creates, upserts, batches, interactive transactions, cascades", async () => {
  const log = await attachAndFollow(
    tables,
    `create table public.tasks (id text primary key, title text, done int not null default 0);
      create table public.notes (id serial primary key, text text not null,
        task_id text not null references public.tasks on delete cascade on update cascade)`,
    { tasks: { title: {}, done: { type: "integer" } }, notes: { text: {}, task_id: {} } },
  );
  await run(process.execPath, ["write.mjs"]);
  expect((await log.bySql()).map((one) => one.toSorted())).toEqual([
    [
      "created notes/1 text=First task_id=a",
      "created notes/2 text=Second task_id=a",
      "created tasks/a title=One done=0",
    ],
    ["created tasks/b title=Two done=0", "created tasks/c done=0"],
    ["updated tasks/a title=First done=2"],
    ["created tasks/d title=Four done=0"],
    ["deleted tasks/d", "updated tasks/b done=1", "updated tasks/c done=1"],
    ["created tasks/bb title=Two done=1", "deleted tasks/b", "updated tasks/c title=Raw"],
    ["deleted notes/1", "deleted notes/2", "deleted tasks/a"],
  ]);
  await log.expectEqual();
});
