import { expect, test } from "vitest";
import { runSchedule } from "./run.ts";
import { FIRST_WITH } from "./simulation.ts";

// Always the same seeds: each that once failed, and a few others. The soak suite and `npm run simulate` run many more.

const FIRST = 200_000;
const SCHEDULES = 4;
/** Each seed once found a bug in the client, or in the simulation. */
const found: readonly (readonly [seed: number, what: string])[] = [
  [6, "that the network is there, told while a line was live, stopped the queue"],
  [12, "an answer to the token before counted against the one that came, which was never tried again"],
  [547, "what was settled left the disk before its rows were there"],
  [8, "a tab that came late kept what was settled before it listened"],
  [55, "a tab that stood still told late of a write that was over"],
  [149, "a place that no other tab had told of was overtaken"],
  [398, "a tab that began to lead forgot a place that it had not heard of"],
  [268, "rows that were read from the disk twice took back what was heard between"],
  [15, "a tab that had lost its disk stopped sending when another one led"],
  [42, "a tab that stood still while another one took the lead heard nothing of the new log"],
  [361, "who had made a write was not told that it was refused, when its tab found that on disk"],
  [303, "a position of a log that was gone was asked for without end"],
  [265, "the tab that leads told of its own write after it was settled"],
  [200_333, "a write that only its maker knew was told to the others as it stood there"],
  [200_134, "a decision that came too late took the promise of another write with it"],
  [400_176, "what one tab cannot read was rejected there, while it waited to be sent in the one that leads"],
  [200_137, "a tab that was about to lead took the queue from the disk, and not the rows"],
  [200_899, "what was settled came back from the disk, where it still lay"],
  [400_640, "a tab whose store had been cleared told of places that no store had"],
  [200_148, "what a tab settled while it followed stayed on disk when it led"],
  [200_876, "rows that were older than what had been heard of the log were the last word"],
  [1_002_294, "a tab that suspected its rows and led no more read nothing again"],
  [1_002_992, "an hour that the clock was set back was waited for once more"],
  [1_003_512, "what was put on disk while another tab took the lead was found by neither"],
  [1_005_313, "the promise of an answered write took the place of the answer's own"],
  [401_558, "rows from the disk cut a snapshot in two that was being read"],
  [3_004_029, "a look that was older than a decision took it back"],
  [3_007_811, "a write that was replaced before it was told of came back when it was"],
  [3_012_350, "a snapshot held writes that no tab had told of"],
  [401_228, "a write behind an answered one was done under two names"],
  [400_669, "what was settled on a log that is gone was waited for"],
  [7_002_811, "a later write left the disk before an earlier one of its record"],
  [7_003_521, "a write that was put on disk late was looked for too early, and once"],
  [9_008_702, "a tab that waits for a token before it asks what became of a write was taken for at rest"],
  [9_014_281, "a tab that did not know that it was replaced sent what was decided about meanwhile"],
  [15_000_891, "what a killed tab put on disk was not waited for until it was looked for again"],
  [15_007_393, "what was found on disk before a change was told to those who knew the change"],
  [21_016_824, "what a decision that came too late had touched could not be looked for: the disk was lost"],
  [22_014_724, "the answer to a write came before it was told under which name it had gone on"],
  [23_014_701, "a tab was killed on the way to the disk, and the one that led had come after it had said so"],
  [24_000_085, "what this tab had taken off the disk was found there by an older look of its own"],
  [7_008_992, "what waited behind a discarded write was sent before that was on disk"],
  [33_554_606, "a tab that began to lead after one with another owner's token hid its own rows for ever"],
  [33_554_743, "what the server said of a token was taken for the one that came after it"],
  [33_554_849, "a follower with another view than its leader asked for the log without end"],
  [33_554_876, "rows of another view that end earlier were taken for those of another log"],
  [33_555_163, "a tab that began to lead showed what was hidden from its token's owner"],
  [33_555_245, "entries that were left out for another view counted as read"],
  [134_217_872, "an archived record that came into a part by an update was shown as a live one"],
  [88_011_011, "a new leader continued rows on disk that the old one had read under another view"],
  [91_001_295, "a tab that was being elected heard that the store is hidden, and showed it as soon as it led"],
  [
    91_011_425,
    "a tab that was about to read all rows anew when it stopped leading waited for rows that its successor need not read",
  ],
  [92_002_598, "a leader did not store what it had read as a follower beyond the rows that it took from disk"],
  [92_003_245, "what a follower had read beyond the rows on disk was on no disk after it led"],
  [92_003_800, "a tab of a new store took a change number of the cleared one, and read its disk without end"],
  [741_675_426, "a leader that suspected its rows forgot that it had to read them anew for other parts, and led again"],
  [449_556_329, "a follower took entries of a leader whose rows were those of other parts for all that it needs"],
  [449_554_517, "a tab that asked whose its next token is led before the answer, and sent what was the owner's before"],
  [449_547_737, "a conflict was judged by rows that had not been read as far as the answer that made it"],
  [129_063_121, "a tab decided about a write whose slot it did not know yet, and the decision counted as stored"],
  [
    129_063_399,
    "a tab read the disk just before the leader's rows of another view were on it, and showed them for good",
  ],
  [
    129_062_654,
    "a write that was being replaced came back beside its replacement, which was sent twice in one request",
  ],
  [1_686_963_049, "several operations on one record were several conflicts, and an answer counted for one of them"],
  [1_686_962_273, "a person's answer was not shown, since a later write of theirs was in the log already"],
  [935_259_203, "a tab that heard of other parts and of a further position at once led with rows of the former parts"],
  [1_073_741_837, "a record that was deleted and created again had nothing of mine in its conflict"],
  [1_073_741_841, "what a person took or merged was refused, since the create of the same record was sent after it"],
  [1_900_001_017, "theirs of a record that was created again had values of the former one"],
  [1_900_016_970, "a read of missing parts went on without end after all rows had to be read again"],
  [2_147_483_653, "tabs that keep no released parts dropped each other's parts without end"],
  [2_147_483_648, "a record with a write on its way was gone when its part was dropped"],
  [1_200_000_009, "of a record that was created again, mine were values from before its delete"],
  [3_500_001_553, "a write was sent when it had been stored as sent, after a sleep of weeks between the two"],
  [3_300_000_534, "a sleep after the clock was set back counted for less than it lasted, and the write was sent again"],
  [3_800_006_648, "a write that had left the disk was taken back, by a tab that did not have its rows yet"],
  [
    3_800_000_480,
    "a tab whose disk had failed sent writes that the disk held as unsent, and another tab sent them weeks later",
  ],
  [
    3_700_008_572,
    "a tab that did not lead saw its clock set back, and a later leader took a sent write for three weeks younger",
  ],
  [
    4_200_002_618,
    "a clock was set back while no tab ran, and weeks later a write looked nine days younger than it was",
  ],
  [4_100_007_729, "a tab that did not lead took another tab's word for how far the clock was off, which was set since"],
  [4_200_002_344, "a page of one part brought in what the stream had said of another one that was being read"],
  [
    4_200_000_642,
    "a part was read while the stream was connecting, which lacked what happened to it until the stream had it",
  ],
  [4_160_001_828, "a tab lost the disk after a sleep of weeks, and sent what the leader had sent before it"],
  [4_180_004_890, "a leader died before it stored a part, and the disk of the next one never had what was new in it"],
  [4_100_001_550, "a tab that waited for the disk heard of new parts, and the older answer took them out again"],
];

test("[R11] two runs of a seed are the same run", async () => {
  const [one, other] = [await runSchedule({ seed: 1 }), await runSchedule({ seed: 1, isTraced: true })];
  expect(other.hash).toEqual(one.hash);
  expect(other.picks).toEqual(one.picks);
  expect(other.trace.length).toBeGreaterThan(50);
  expect((await runSchedule({ seed: 2 })).hash).not.toBe(one.hash);
});

test.each(found)("[R12] seed %i: %s", async (seed) => {
  expect((await runSchedule({ seed })).violation).toBeUndefined();
});

test.each([
  ["[R8] [R9] [R12] [R31] [R32] [U10] tabs, devices and the server converge, and nothing is lost", FIRST],
  [
    "[D15] [N15] under any sign-ins and scopes, no write reaches another owner, and each client shows its own view",
    FIRST_WITH.tenants,
  ],
  [
    "[N25] [N26] [N27] whatever parts apps load and release, each tab shows them, and nothing else that is not as the server has it",
    FIRST_WITH.parts,
  ],
  [
    "[N26] [N45] [N46] whatever budgets tabs have, memory and disk have what is followed, and nothing else",
    FIRST_WITH.budgets,
  ],
  [
    "[D40] [D41] whatever guests of another organization do on the same devices, neither sees or sends what the other has",
    FIRST_WITH.guests,
  ],
  ["[R42] unique values and checked references hold", FIRST_WITH.values],
  [
    "[R67] whatever apps delete, create, change and archive in a row, a person's answer is what is shown",
    FIRST_WITH.sequences,
  ],
])("%s", async (_, first) => {
  const broken: unknown[] = [];
  for (let seed = first; seed < first + SCHEDULES; seed++) {
    const outcome = await runSchedule({ seed });
    if (outcome.violation) broken.push({ seed, ...outcome.violation });
  }
  expect(broken).toEqual([]);
});
