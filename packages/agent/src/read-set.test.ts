import { createTestServer } from "@holdfast/sdk/testing";
import { expect, test } from "vitest";
import { createReadSet } from "./read-set.ts";

test("[ER10] [ER16] an agent's tools forget what they have read of a record that is erased", async () => {
  const own = createTestServer({ models: { person: { fields: { name: { type: "string" } } } } });
  const { client } = own.client();
  await client.ready();
  for (const id of ["p1", "p2"]) client.models.person.create({ name: id }, { id });
  await own.settle();
  const readSet = createReadSet(client);
  for (const id of ["p1", "p2"]) readSet.take("person", id);
  own.server.erase("person", "p1");
  await own.settle();
  expect(readSet.last("person", "p1")).toBeUndefined();
  expect(readSet.last("person", "p2")).toMatchObject({ record: { name: "p2" } });
  readSet.close();
  expect(readSet.last("person", "p2")).toBeUndefined();
});
