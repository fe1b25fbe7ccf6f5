// A page that uses the packages. It is copied, type-checked and built against the packed files.
import { createHooks, SyncProvider } from "@holdfast/react";
import { HoldfastDevtools } from "@holdfast/react/devtools";
import { createClient, defineSchema, isSyncError, type RowOf } from "@holdfast/sdk";
import { lazy, Suspense, useState } from "react";
import { createRoot } from "react-dom/client";

const schema = defineSchema({
  models: { slide: { fields: { title: { type: "string", required: true }, order: { type: "number", default: 0 } } } },
});
const client = createClient({ schema, url: "http://127.0.0.1:8787", getToken: () => "token" });
const { useClaim, useMutation, useQuery } = createHooks<typeof schema>();

// The panel in production, loaded on demand.
const Inside = lazy(() =>
  import("@holdfast/react/devtools/production").then(({ HoldfastDevtools }) => ({ default: HoldfastDevtools })),
);

function LookInside() {
  const [isOpen, setOpen] = useState(false);
  if (!isOpen)
    return (
      <button type="button" onClick={() => setOpen(true)}>
        Look inside
      </button>
    );
  return (
    <Suspense>
      <Inside onClose={() => setOpen(false)} position="bottom-left" />
    </Suspense>
  );
}

function Deck() {
  const [note, setNote] = useState("");
  const slides = useQuery("slide", { orderBy: "order" });
  const { create } = useMutation("slide");
  const add = async () => {
    try {
      await create({ title: "Hello" }).queued;
      setNote("on disk");
    } catch (error) {
      setNote(isSyncError(error) ? error.code : String(error));
    }
  };
  return (
    <>
      <button type="button" onClick={add}>
        Add
      </button>
      <p>{note}</p>
      {slides.map((slide) => (
        <Card key={slide.id} slide={slide} />
      ))}
    </>
  );
}

function Card({ slide }: { slide: RowOf<typeof schema, "slide"> }) {
  const { status } = useClaim("slide", slide.id);
  // Typed rows: `order` is a number and `title` a string.
  const label: string = `${slide.order.toFixed(0)}. ${slide.title.trim()}`;
  return <h2 data-status={status}>{label}</h2>;
}

const place = document.querySelector("main");
if (place)
  createRoot(place).render(
    <SyncProvider client={client}>
      <Deck />
      <HoldfastDevtools rooms={["deck:d1"]} />
      <LookInside />
    </SyncProvider>,
  );
