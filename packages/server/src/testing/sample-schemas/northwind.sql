-- The tables of the Northwind sample schema, after its published definitions, in our own words; a few rows of our own.
create schema northwind;
set search_path = northwind;

create table categories (
  category_id smallint primary key,
  category_name varchar(15) not null,
  description text,
  picture bytea
);

create table customer_demographics (
  customer_type_id varchar(5) primary key,
  customer_desc text
);

create table customers (
  customer_id varchar(5) primary key,
  company_name varchar(40) not null,
  contact_name varchar(30),
  contact_title varchar(30),
  address varchar(60),
  city varchar(15),
  region varchar(15),
  postal_code varchar(10),
  country varchar(15),
  phone varchar(24),
  fax varchar(24)
);

create table customer_customer_demo (
  customer_id varchar(5) not null references customers,
  customer_type_id varchar(5) not null references customer_demographics,
  constraint pk_customer_customer_demo primary key (customer_id, customer_type_id)
);

create table employees (
  employee_id smallint primary key,
  last_name varchar(20) not null,
  first_name varchar(10) not null,
  title varchar(30),
  title_of_courtesy varchar(25),
  birth_date date,
  hire_date date,
  address varchar(60),
  city varchar(15),
  region varchar(15),
  postal_code varchar(10),
  country varchar(15),
  home_phone varchar(24),
  extension varchar(4),
  photo bytea,
  notes text,
  reports_to smallint references employees,
  photo_path varchar(255)
);

create table suppliers (
  supplier_id smallint primary key,
  company_name varchar(40) not null,
  contact_name varchar(30),
  contact_title varchar(30),
  address varchar(60),
  city varchar(15),
  region varchar(15),
  postal_code varchar(10),
  country varchar(15),
  phone varchar(24),
  fax varchar(24),
  homepage text
);

create table products (
  product_id smallint primary key,
  product_name varchar(40) not null,
  supplier_id smallint references suppliers,
  category_id smallint references categories,
  quantity_per_unit varchar(20),
  unit_price real,
  units_in_stock smallint,
  units_on_order smallint,
  reorder_level smallint,
  discontinued integer not null
);

create table region (
  region_id smallint primary key,
  region_description varchar(60) not null
);

create table shippers (
  shipper_id smallint primary key,
  company_name varchar(40) not null,
  phone varchar(24)
);

create table orders (
  order_id smallint primary key,
  customer_id varchar(5) references customers,
  employee_id smallint references employees,
  order_date date,
  required_date date,
  shipped_date date,
  ship_via smallint references shippers,
  freight real,
  ship_name varchar(40),
  ship_address varchar(60),
  ship_city varchar(15),
  ship_region varchar(15),
  ship_postal_code varchar(10),
  ship_country varchar(15)
);

create table territories (
  territory_id varchar(20) primary key,
  territory_description varchar(60) not null,
  region_id smallint not null references region
);

create table employee_territories (
  employee_id smallint not null references employees,
  territory_id varchar(20) not null references territories,
  constraint pk_employee_territories primary key (employee_id, territory_id)
);

create table order_details (
  order_id smallint not null references orders,
  product_id smallint not null references products,
  unit_price real not null,
  quantity smallint not null,
  discount real not null,
  constraint pk_order_details primary key (order_id, product_id)
);

create table us_states (
  state_id smallint primary key,
  state_name varchar(100),
  state_abbr varchar(2),
  state_region varchar(50)
);

insert into categories values (1, 'Drinks', 'Tea, coffee and juices', '\x151c2f'), (2, 'Sweets', null, null), (3, 'Fish', '', '\x');
insert into customer_demographics values ('LARGE', 'Buys often'), ('SMALL', null);
insert into customers values
  ('ANNEB', 'Anne''s Bakery', 'Anne Berg', 'Owner', 'Östra gatan 5', 'Malmö', null, 'S-211 20', 'Sweden', '040-12 34 56', null),
  ('CORNR', 'The Corner Shop', null, null, null, null, null, null, 'UK', null, null),
  ('MARKT', 'Markthalle', 'Uwe Kern', 'Buyer', '"Halle" 3', 'Köln', '', '50667', 'Germany', '0221-98765', '');
insert into customer_customer_demo values ('ANNEB', 'SMALL'), ('MARKT', 'LARGE');
insert into employees (employee_id, last_name, first_name, title, title_of_courtesy, birth_date, hire_date, photo, notes, reports_to)
  values (2, 'Olsen', 'Marit', 'Head of Sales', 'Dr.', '1962-02-19', '1992-08-14', '\x15', 'Speaks' || chr(10) || 'three languages.', null),
    (1, 'Doyle', 'Rose', 'Clerk', 'Ms.', null, null, null, null, 2), (3, 'Baker', 'Tim', null, null, '1990-12-31', '2020-01-01', null, '', 2);
insert into suppliers (supplier_id, company_name, country, homepage) values (1, 'Leaf & Bean', 'India', 'https://example.org/#leaf'), (2, 'Nordic Fish', 'Norway', null);
insert into products values (1, 'Green tea', 1, 1, '10 boxes x 20 bags', 18.6, 39, 0, 10, 1), (2, 'Cocoa', 1, 1, '24 - 12 oz', 19, 17, 40, 25, 1),
  (3, 'Herring', 2, 3, null, 0.1, -1, null, null, 0);
insert into region values (1, 'North'), (2, 'South');
insert into shippers values (1, 'Fast Parcels', '(503) 555-9831'), (2, 'Slow Boats', null);
insert into orders values
  (10248, 'ANNEB', 1, '1996-07-04', '1996-08-01', '1996-07-16', 2, 32.38, 'Anne''s Bakery', null, 'Malmö', null, null, 'Sweden'),
  (10249, 'MARKT', 3, '1996-07-05', null, null, 1, 11.61, 'Markthalle', null, 'Köln', null, null, 'Germany');
insert into territories values ('01581', 'Westboro', 1), ('01730', 'Bedford', 1), ('29202', 'Columbia', 2);
insert into employee_territories values (1, '01581'), (1, '01730'), (3, '29202');
insert into order_details values (10248, 1, 14, 12, 0), (10248, 2, 9.8, 10, 0.15), (10249, 3, 0.1, 5, 0.05);
insert into us_states values (1, 'Alabama', 'AL', 'south'), (2, 'Alaska', 'AK', 'north');
reset search_path;
