-- A participant's claims are counted where there are many: no round asks for them by anything else.
create index claim_participant on holdfast.claim (world, participant) where ended_at is null;
