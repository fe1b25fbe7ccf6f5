import { limits } from "@holdfast/sdk/protocol";
import { participantName } from "../../../kernel/tokens/rules/participant.ts";
import type { Attendee, RoomNews } from "./presence-room.ts";

/** A `presence` frame as bytes: built once and sent to every member of the room. */
export const presenceFrame = (room: string, { joined, updated, left }: RoomNews): Buffer =>
  Buffer.from(
    `{"frame":"presence","room":${JSON.stringify(room)},"joined":[${joined.map(peerText).join(",")}],` +
      `"updated":[${updated.map(peerText).join(",")}],"left":${JSON.stringify(left)}}`,
  );

function peerText(sessions: readonly Attendee[]): string {
  const { participantKind, participantId } = sessions[0] as Attendee;
  const participant = participantName(participantKind, participantId);
  const told = sessions.slice(0, limits.presenceSessionsTold).map(sessionText);
  return `{"participant":${JSON.stringify(participant)},"participantKind":"${participantKind}","participantId":${JSON.stringify(participantId)},"sessions":[${told.join(",")}]}`;
}

const sessionText = ({ session, clientId, state }: Attendee): string =>
  `{"session":${JSON.stringify(session)},"clientId":${JSON.stringify(clientId)},"state":${state}}`;
