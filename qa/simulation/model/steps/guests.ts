import type { Device } from "../client/device.ts";
import type { Tab } from "../client/tab.ts";
import { ELSEWHERE } from "../server/tenants.ts";
import type { Simulation } from "../simulation.ts";

/** The most tabs of guests on a device. */
const MOST = 2;

/** A person of another organization opens a tab on the device, writes in it, closes it, or it is killed. */
export function guestActs(simulation: Simulation, device: Device): string {
  const { chance } = simulation;
  const guest = chance.pick([...device.guests].filter(({ closing }) => closing === "no"));
  const what = chance.weighed({ open: device.guests.size < MOST ? 3 : 0, write: 8, close: 1, kill: 1 });
  simulation.count(`guest: ${what}`);
  if (!guest || (what === "open" && device.guests.size < MOST))
    return `${device.openGuest().name} is opened by a guest`;
  if (what === "write") return guestWrites(simulation, guest);
  if (what === "close") return closeGuest(device, guest);
  killGuest(simulation, device, guest);
  return `${guest.name} is killed`;
}

function guestWrites({ service, chance }: Simulation, { name, client, isBeside }: Tab): string {
  if (!isBeside) return `${name} does not know its owner yet`;
  const { guestWrites: writes } = service.tenants;
  const { slide } = client.models;
  const id = `${ELSEWHERE}-${name}-${writes.size}`;
  const isUpdate = chance.percent(30) && slide.get(`${ELSEWHERE}-0`) !== undefined;
  const write = isUpdate
    ? slide.update(`${ELSEWHERE}-0`, { title: id }, { onStale: "overwrite" })
    : slide.create({ title: ELSEWHERE }, { id });
  writes.set(write.clientTxId, false);
  write.queued.then(
    () => writes.set(write.clientTxId, true),
    () => {},
  );
  write.receipt.catch(() => {});
  return `${name} writes ${isUpdate ? "an update" : id} as ${write.clientTxId}`;
}

export function closeGuest(device: Device, tab: Tab): string {
  tab.closing = "closing";
  void tab.client.close().then(() => {
    tab.closing = "closed";
    device.guests.delete(tab);
  });
  return `${tab.name} is being closed`;
}

export function killGuest({ chance }: Simulation, device: Device, tab: Tab): void {
  device.killGuest(
    tab,
    () => chance.below(3),
    () => chance.percent(60),
  );
}
