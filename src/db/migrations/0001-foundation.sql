-- The first schema. Rules that keep sharding by account open (test/api/schema.test.ts reads the catalog and checks them):
-- account_id comes first in every primary key, unique key and foreign key; no triggers, generated columns, domains, ranges,
-- deferrable or exclusion constraints, inheritance; PostgreSQL 15 syntax.

CREATE EXTENSION IF NOT EXISTS pg_trgm;

CREATE TABLE account (
  account_id bigint PRIMARY KEY,
  name text NOT NULL,
  time_zone text NOT NULL DEFAULT 'UTC',
  base_currency int NOT NULL,
  -- grows with every change of fields, options, stages or currencies: processes reload their catalog when it differs
  catalog_version bigint NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL
);

-- One row an account. Its row lock orders the account's writes: event.seq is gap-free and in commit order.
CREATE TABLE counter (
  account_id bigint PRIMARY KEY REFERENCES account,
  last_id bigint NOT NULL DEFAULT 0,
  last_seq bigint NOT NULL DEFAULT 0,
  -- ids of custom fields and options; the fields of the service itself have the numbers below 1000
  last_field_id bigint NOT NULL DEFAULT 1000
) WITH (fillfactor = 10);

CREATE TABLE token (
  account_id bigint NOT NULL REFERENCES account,
  id bigint NOT NULL,
  name text NOT NULL,
  hash text NOT NULL,
  scopes text[] NOT NULL,
  user_id bigint NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  revoked_at timestamptz,
  PRIMARY KEY (account_id, id),
  UNIQUE (account_id, hash)
);

CREATE TABLE field (
  account_id bigint NOT NULL REFERENCES account,
  id bigint NOT NULL,
  resource text NOT NULL,
  internal_name text NOT NULL,
  field_name text NOT NULL,
  type text NOT NULL,
  config jsonb NOT NULL DEFAULT '{}',
  default_value jsonb,
  is_required boolean NOT NULL DEFAULT false,
  is_active boolean NOT NULL DEFAULT true,
  position int NOT NULL,
  deleted_at timestamptz,
  PRIMARY KEY (account_id, id),
  UNIQUE (account_id, resource, internal_name)
);

CREATE TABLE option (
  account_id bigint NOT NULL REFERENCES account,
  id bigint NOT NULL,
  resource text NOT NULL,
  field text NOT NULL,
  name text NOT NULL,
  position int NOT NULL,
  is_active boolean NOT NULL DEFAULT true,
  is_default boolean NOT NULL DEFAULT false,
  PRIMARY KEY (account_id, id)
);
CREATE UNIQUE INDEX option_name ON option (account_id, resource, field, lower(name)) WHERE is_active;

-- id is the ISO 4217 numeric code
CREATE TABLE currency (
  account_id bigint NOT NULL REFERENCES account,
  id int NOT NULL,
  code text NOT NULL,
  name text NOT NULL,
  symbol text NOT NULL,
  decimals smallint NOT NULL,
  rate numeric CHECK (rate > 0),
  is_active boolean NOT NULL DEFAULT true,
  PRIMARY KEY (account_id, id),
  UNIQUE (account_id, code)
);

CREATE TABLE "user" (
  account_id bigint NOT NULL REFERENCES account,
  id bigint NOT NULL,
  version int NOT NULL DEFAULT 1,
  name text NOT NULL,
  email text NOT NULL,
  metadata jsonb NOT NULL DEFAULT '{}',
  custom jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  created_by bigint,
  updated_by bigint,
  deleted_at timestamptz,
  PRIMARY KEY (account_id, id)
);

CREATE TABLE territory (
  account_id bigint NOT NULL REFERENCES account,
  id bigint NOT NULL,
  version int NOT NULL DEFAULT 1,
  name text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  created_by bigint,
  updated_by bigint,
  deleted_at timestamptz,
  PRIMARY KEY (account_id, id)
);

CREATE TABLE tag (
  account_id bigint NOT NULL REFERENCES account,
  id bigint NOT NULL,
  version int NOT NULL DEFAULT 1,
  name text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  created_by bigint,
  updated_by bigint,
  deleted_at timestamptz,
  PRIMARY KEY (account_id, id)
);

CREATE TABLE company (
  account_id bigint NOT NULL REFERENCES account,
  id bigint NOT NULL,
  version int NOT NULL DEFAULT 1,
  name text NOT NULL,
  website text,
  phones jsonb NOT NULL DEFAULT '[]',
  address jsonb NOT NULL DEFAULT '[]',
  metadata jsonb NOT NULL DEFAULT '{}',
  custom jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  created_by bigint,
  updated_by bigint,
  deleted_at timestamptz,
  PRIMARY KEY (account_id, id)
);

CREATE TABLE contact (
  account_id bigint NOT NULL REFERENCES account,
  id bigint NOT NULL,
  version int NOT NULL DEFAULT 1,
  first_name text,
  last_name text NOT NULL,
  job_title text,
  emails jsonb NOT NULL DEFAULT '[]',
  phones jsonb NOT NULL DEFAULT '[]',
  company bigint,
  metadata jsonb NOT NULL DEFAULT '{}',
  custom jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  created_by bigint,
  updated_by bigint,
  deleted_at timestamptz,
  PRIMARY KEY (account_id, id),
  FOREIGN KEY (account_id, company) REFERENCES company
);
CREATE INDEX contact_company ON contact (account_id, company);

CREATE TABLE pipeline (
  account_id bigint NOT NULL REFERENCES account,
  id bigint NOT NULL,
  version int NOT NULL DEFAULT 1,
  name text NOT NULL,
  position int NOT NULL,
  is_default boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  created_by bigint,
  updated_by bigint,
  deleted_at timestamptz,
  PRIMARY KEY (account_id, id)
);

CREATE TABLE pipeline_stage (
  account_id bigint NOT NULL REFERENCES account,
  id bigint NOT NULL,
  version int NOT NULL DEFAULT 1,
  pipeline bigint NOT NULL,
  name text NOT NULL,
  position int NOT NULL,
  kind text NOT NULL CHECK (kind IN ('open', 'won', 'lost')),
  probability int NOT NULL CHECK (probability BETWEEN 0 AND 100),
  rotting_days int CHECK (rotting_days > 0),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  created_by bigint,
  updated_by bigint,
  deleted_at timestamptz,
  PRIMARY KEY (account_id, id),
  FOREIGN KEY (account_id, pipeline) REFERENCES pipeline
);

-- The columns of a composite field are <field>_<member>. Money columns hold the amount exactly as written (numeric without a scale).
CREATE TABLE deal (
  account_id bigint NOT NULL,
  id bigint NOT NULL,
  version int NOT NULL DEFAULT 1,
  title text NOT NULL,
  pipeline bigint NOT NULL,
  pipeline_stage bigint NOT NULL,
  primary_contact bigint NOT NULL,
  related_contacts bigint[] NOT NULL DEFAULT '{}',
  sales_owner bigint NOT NULL,
  company bigint,
  deal_value_currency int,
  deal_value_currency_code text,
  deal_value_value numeric,
  deal_value_products jsonb NOT NULL DEFAULT '[]',
  weighted_value_currency int,
  weighted_value_currency_code text,
  weighted_value_value numeric,
  expected_deal_value_currency int,
  expected_deal_value_currency_code text,
  expected_deal_value_value numeric,
  product_amount_currency int,
  product_amount_currency_code text,
  product_amount_value numeric,
  deal_value_in_base_currency_currency int,
  deal_value_in_base_currency_currency_code text,
  deal_value_in_base_currency_value numeric,
  product_quantity numeric,
  source bigint,
  territory bigint,
  tags bigint[] NOT NULL DEFAULT '{}',
  description text,
  type bigint,
  payment_status bigint,
  won_reason bigint,
  lost_reason bigint,
  deal_closed_on date,
  expected_close_date date,
  forecast_category bigint,
  status smallint NOT NULL,
  stage_probability int NOT NULL,
  -- the stage's threshold in days, so that a read needs no join
  stage_rotting_days int,
  won_time timestamptz,
  lost_time timestamptz,
  deal_stage_updated_at timestamptz NOT NULL,
  last_assigned_at timestamptz NOT NULL,
  -- the members of the record as JSON text, written with the columns and read as it is (records/document.ts)
  document text NOT NULL,
  metadata jsonb NOT NULL DEFAULT '{}',
  custom jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  created_by bigint NOT NULL,
  updated_by bigint NOT NULL,
  deleted_at timestamptz,
  PRIMARY KEY (account_id, id),
  FOREIGN KEY (account_id, pipeline_stage) REFERENCES pipeline_stage,
  FOREIGN KEY (account_id, primary_contact) REFERENCES contact,
  FOREIGN KEY (account_id, company) REFERENCES company,
  FOREIGN KEY (account_id, sales_owner) REFERENCES "user",
  FOREIGN KEY (account_id, territory) REFERENCES territory
) WITH (toast_tuple_target = 8160);
CREATE INDEX deal_stage ON deal (account_id, pipeline_stage, id) WHERE deleted_at IS NULL;
CREATE INDEX deal_title_trigram ON deal USING gin (title gin_trgm_ops);

CREATE TABLE product (
  account_id bigint NOT NULL,
  id bigint NOT NULL,
  version int NOT NULL DEFAULT 1,
  name text NOT NULL,
  product_code text,
  category bigint,
  unit_price jsonb NOT NULL DEFAULT '[]',
  active smallint,
  taxable smallint,
  quantity_ordered numeric,
  quantity_in_stock numeric,
  description text,
  type smallint,
  sku_number text,
  valid_till timestamptz,
  sales_owner bigint,
  base_currency_amount_currency int,
  base_currency_amount_currency_code text,
  base_currency_amount_value numeric,
  last_assigned_at timestamptz,
  -- the members of the record as JSON text, written with the columns and read as it is (records/document.ts)
  document text NOT NULL,
  metadata jsonb NOT NULL DEFAULT '{}',
  custom jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  created_by bigint NOT NULL,
  updated_by bigint NOT NULL,
  deleted_at timestamptz,
  PRIMARY KEY (account_id, id),
  FOREIGN KEY (account_id, sales_owner) REFERENCES "user"
) WITH (toast_tuple_target = 8160);
CREATE INDEX product_name_trigram ON product USING gin (name gin_trgm_ops);

-- What happened, in the order it was committed. changes: {field: {before, after}}
CREATE TABLE event (
  account_id bigint NOT NULL,
  seq bigint NOT NULL,
  type text NOT NULL,
  resource text NOT NULL,
  record_id bigint NOT NULL,
  version int NOT NULL,
  actor bigint NOT NULL,
  at timestamptz NOT NULL,
  changes jsonb NOT NULL,
  PRIMARY KEY (account_id, seq)
);

CREATE TABLE idempotency (
  account_id bigint NOT NULL,
  key text NOT NULL,
  request_hash text NOT NULL,
  status int,
  headers jsonb,
  body text,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, key)
);
CREATE INDEX idempotency_created_at ON idempotency (account_id, created_at);
