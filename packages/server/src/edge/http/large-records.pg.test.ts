import { expect, test } from "vitest";
import { startApp } from "../../testing/app.ts";

// The soak suite writes many of them, on a small heap.

const app = await startApp();
const MiB = 1_048_576;
const update = (id: string, title: string) => ({ action: "update", model: "slide", id, data: { title } });

test("[C17] a commit that names more than 32 MiB, since it makes a record large, is refused, and nothing of it is written", async () => {
  await app.call("POST", "/v1/models/slide", { json: { id: "grows", data: { title: "small" } } });
  const grows = await app.call("POST", "/v1/commits", {
    json: {
      operations: [
        { action: "update", model: "slide", id: "grows", data: { notes: "n".repeat(MiB - 1_000) } },
        ...Array.from({ length: 40 }, (_, i) => update("grows", `${i}`)),
      ],
    },
  });
  expect(grows.status).toBe(400);
  expect(grows.body.code).toBe("commit_too_large");
  expect((await app.call("GET", "/v1/models/slide/grows")).body.data).toMatchObject({ title: "small" });
});
