"use client";

import { createHooks } from "@holdfast/react";
import type { Schema } from "../lib/schema";

const { useMutation, usePreventUnsavedChanges, useSuspenseQuery, useSyncStatus } = createHooks<Schema>();

export function Deck() {
  const slides = useSuspenseQuery("slide", { where: { deckId: "d1" }, orderBy: "order" });
  const status = useSyncStatus(({ name, pending }) => ({ name, pending }));
  const slide = useMutation("slide");
  usePreventUnsavedChanges();
  return (
    <>
      <ol>
        {slides.map(({ id, title }) => (
          <li key={id}>
            {/* The key makes a new field when another person has changed its title. */}
            <input
              key={title}
              aria-label={`Title of slide ${id}`}
              defaultValue={title}
              onBlur={({ target }) => target.value !== title && slide.update(id, { title: target.value })}
            />
          </li>
        ))}
      </ol>
      <button
        type="button"
        onClick={() => slide.create({ deckId: "d1", title: "New slide", order: slides.length + 1 })}
      >
        Add a slide
      </button>
      <p role="status">
        {status.name}, {status.pending} unsettled
      </p>
    </>
  );
}
