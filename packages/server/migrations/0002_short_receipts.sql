-- A receipt in fewer bytes, since every commit writes one. Instead of its participant, the row and the index have a hash of
-- it, behind the name: so receipts of names that follow each other stay side by side (kernel/commits/db/receipts.ts). Of most, the
-- body has only what differs from one to the next (kernel/commits/rules/short-receipt.ts); older ones stay whole.

-- One pass over the table.
alter table holdfast.receipt
  drop constraint receipt_pkey,
  alter column name type text collate "C"
    using name || ' ' || left(encode(sha256(convert_to(participant, 'UTF8')), 'base64'), 16),
  alter column fingerprint type bytea using decode(fingerprint, 'base64');
alter table holdfast.receipt drop column participant;
alter table holdfast.receipt rename column name to key;
alter table holdfast.receipt add primary key (tenant, key);
