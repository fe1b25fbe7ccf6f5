-- Every process asks once a second which keys and tokens were revoked.
create index scoped_token_revoked on holdfast.scoped_token (revoked_at) where revoked_at is not null;
create index secret_key_revoked on holdfast.secret_key (revoked_at) where revoked_at is not null;
