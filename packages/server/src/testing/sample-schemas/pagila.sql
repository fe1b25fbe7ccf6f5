-- The tables of the Pagila sample schema, after its published definitions, in our own words, without its views; a few rows
-- of our own.
create schema pagila;
set search_path = pagila;

create type mpaa_rating as enum ('G', 'PG', 'PG-13', 'R', 'NC-17');
create domain year as integer constraint year_check check (value >= 1901 and value <= 2155);

create function last_updated() returns trigger language plpgsql as $$
begin
  new.last_update = current_timestamp;
  return new;
end $$;

create table actor (
  actor_id serial primary key,
  first_name text not null,
  last_name text not null,
  last_update timestamptz not null default now()
);

create table category (
  category_id serial primary key,
  name text not null,
  last_update timestamptz not null default now()
);

create table country (
  country_id serial primary key,
  country text not null,
  last_update timestamptz not null default now()
);

create table city (
  city_id serial primary key,
  city text not null,
  country_id integer not null references country on update cascade on delete restrict,
  last_update timestamptz not null default now()
);

create table address (
  address_id serial primary key,
  address text not null,
  address2 text,
  district text not null,
  city_id integer not null references city on update cascade on delete restrict,
  postal_code text,
  phone text not null,
  last_update timestamptz not null default now()
);

create table language (
  language_id serial primary key,
  name character(20) not null,
  last_update timestamptz not null default now()
);

create table film (
  film_id serial primary key,
  title text not null,
  description text,
  release_year year,
  language_id integer not null references language on update cascade on delete restrict,
  original_language_id integer references language on update cascade on delete restrict,
  rental_duration smallint not null default 3,
  rental_rate numeric(4, 2) not null default 4.99,
  length smallint,
  replacement_cost numeric(5, 2) not null default 19.99,
  rating mpaa_rating default 'G',
  last_update timestamptz not null default now(),
  special_features text[],
  fulltext tsvector not null
);

create table film_actor (
  actor_id integer not null references actor on update cascade on delete restrict,
  film_id integer not null references film on update cascade on delete restrict,
  last_update timestamptz not null default now(),
  primary key (actor_id, film_id)
);

create table film_category (
  film_id integer not null references film on update cascade on delete restrict,
  category_id integer not null references category on update cascade on delete restrict,
  last_update timestamptz not null default now(),
  primary key (film_id, category_id)
);

create table store (
  store_id serial primary key,
  manager_staff_id integer not null,
  address_id integer not null references address on update cascade on delete restrict,
  last_update timestamptz not null default now()
);

create table staff (
  staff_id serial primary key,
  first_name text not null,
  last_name text not null,
  address_id integer not null references address on update cascade on delete restrict,
  email text,
  store_id integer not null references store,
  active boolean not null default true,
  username text not null,
  password text,
  last_update timestamptz not null default now(),
  picture bytea
);

create table customer (
  customer_id serial primary key,
  store_id integer not null references store on update cascade on delete restrict,
  first_name text not null,
  last_name text not null,
  email text,
  address_id integer not null references address on update cascade on delete restrict,
  activebool boolean not null default true,
  create_date date not null default current_date,
  last_update timestamptz default now(),
  active integer
);

create table inventory (
  inventory_id serial primary key,
  film_id integer not null references film on update cascade on delete restrict,
  store_id integer not null references store on update cascade on delete restrict,
  last_update timestamptz not null default now()
);

create table rental (
  rental_id serial primary key,
  rental_date timestamptz not null,
  inventory_id integer not null references inventory on update cascade on delete restrict,
  customer_id integer not null references customer on update cascade on delete restrict,
  return_date timestamptz,
  staff_id integer not null references staff on update cascade on delete restrict,
  last_update timestamptz not null default now()
);

create table payment (
  payment_id serial,
  customer_id integer not null references customer,
  staff_id integer not null references staff,
  rental_id integer not null references rental,
  amount numeric(5, 2) not null,
  payment_date timestamptz not null,
  primary key (payment_date, payment_id)
) partition by range (payment_date);
create table payment_p2022_01 partition of payment for values from ('2022-01-01 00:00Z') to ('2022-02-01 00:00Z');
create table payment_p2022_02 partition of payment for values from ('2022-02-01 00:00Z') to ('2022-03-01 00:00Z');
create table payment_p2022_03 partition of payment for values from ('2022-03-01 00:00Z') to ('2022-04-01 00:00Z');

create index film_fulltext_idx on film using gist (fulltext);
create index idx_actor_last_name on actor (last_name);
create index idx_title on film (title);
create unique index idx_unq_manager_staff_id on store (manager_staff_id);
create unique index idx_unq_rental_rental_date_inventory_id_customer_id on rental (rental_date, inventory_id, customer_id);

create trigger film_fulltext_trigger before insert or update on film for each row
  execute function tsvector_update_trigger('fulltext', 'pg_catalog.english', 'title', 'description');
create trigger last_updated before update on actor for each row execute function last_updated();
create trigger last_updated before update on address for each row execute function last_updated();
create trigger last_updated before update on category for each row execute function last_updated();
create trigger last_updated before update on city for each row execute function last_updated();
create trigger last_updated before update on country for each row execute function last_updated();
create trigger last_updated before update on customer for each row execute function last_updated();
create trigger last_updated before update on film for each row execute function last_updated();
create trigger last_updated before update on film_actor for each row execute function last_updated();
create trigger last_updated before update on film_category for each row execute function last_updated();
create trigger last_updated before update on inventory for each row execute function last_updated();
create trigger last_updated before update on language for each row execute function last_updated();
create trigger last_updated before update on rental for each row execute function last_updated();
create trigger last_updated before update on staff for each row execute function last_updated();
create trigger last_updated before update on store for each row execute function last_updated();

insert into actor (first_name, last_name, last_update) values ('ADA', 'BERG', '2022-02-15 09:34:33Z'), ('CAI', 'DAHL', default);
insert into category (name) values ('Animation'), ('Classics');
insert into country (country) values ('Canada'), ('Réunion');
insert into city (city, country_id) values ('Lethbridge', 1), ('Saint-Denis', 2);
insert into address (address, address2, district, city_id, postal_code, phone) values
  ('47 High Road', null, 'Alberta', 1, '', ''), ('28 Low Road', '', ' ', 2, '97400', '262 12'), ('3 Side Road', null, 'Alberta', 1, null, '1');
insert into language (name) values ('English'), ('Français');
insert into film (title, description, release_year, language_id, original_language_id, rental_duration, rental_rate, length, rating,
    last_update, special_features) values
  ('ACADEMY OWL', 'A tale of an owl and a teacher', 2006, 1, null, 6, 0.90, 86, 'PG-13', '2022-09-10 16:46:03.905795Z', '{Trailers,"Deleted Scenes"}'),
  ('ZERO NIGHTS', null, null, 2, 1, default, default, null, null, default, null),
  ('EMPTY ROOMS', '', 1901, 1, null, 1, 12.00, 0, 'NC-17', default, '{}');
insert into film_actor (actor_id, film_id) values (1, 1), (1, 2), (2, 2);
insert into film_category (film_id, category_id) values (1, 1), (2, 2), (3, 2);
insert into store (manager_staff_id, address_id) values (1, 1), (2, 2);
insert into staff (first_name, last_name, address_id, email, store_id, active, username, password, picture) values
  ('Mia', 'Holm', 3, 'mia@example.org', 1, true, 'Mia', null, '\x89504e47'), ('Jo', 'Stone', 2, null, 2, false, 'Jo', '', null);
insert into customer (store_id, first_name, last_name, email, address_id, create_date, last_update, active) values
  (1, 'MARY', 'LAKE', 'mary@example.org', 3, '2022-02-14', null, 1), (2, 'LEE', 'POND', null, 2, default, default, null);
insert into inventory (film_id, store_id) values (1, 1), (1, 2), (2, 1);
insert into rental (rental_date, inventory_id, customer_id, return_date, staff_id) values
  ('2022-01-24 21:53:30Z', 1, 1, '2022-01-26 22:04:30+00', 1), ('2022-02-24 23:03:39+05:30', 3, 2, null, 2);
insert into payment (customer_id, staff_id, rental_id, amount, payment_date) values
  (1, 1, 1, 1.99, '2022-01-24 21:40:19.996577Z'), (2, 2, 2, 0.00, '2022-02-25 00:00Z'), (2, 2, 2, 10.90, '2022-03-01 00:00Z');
reset search_path;
