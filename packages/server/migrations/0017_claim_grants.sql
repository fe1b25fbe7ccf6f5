-- How far the log of the tenant reached when the claim was granted: a holder that has read up to there has seen all
-- that the holders before it wrote. Null: never granted, or granted before this column was there.
alter table holdfast.claim add column granted_sync_id bigint;
