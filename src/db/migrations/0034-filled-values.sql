-- Most records have no tags and no custom values. An index of those that have some spares each write of the others the entry
-- for an empty value. A search must say that the value isn't empty (ofFilled in src/fields/columns.ts).
CREATE INDEX CONCURRENTLY deal_filled_tags ON deal USING gin (tags) WITH (fastupdate = off) WHERE tags <> '{}';
CREATE INDEX CONCURRENTLY deal_filled_related_contacts ON deal USING gin (related_contacts) WITH (fastupdate = off)
  WHERE related_contacts <> '{}';
CREATE INDEX CONCURRENTLY deal_filled_custom ON deal USING gin (custom jsonb_path_ops) WITH (fastupdate = off)
  WHERE custom <> '{}';
CREATE INDEX CONCURRENTLY product_filled_custom ON product USING gin (custom jsonb_path_ops) WITH (fastupdate = off)
  WHERE custom <> '{}';
CREATE INDEX CONCURRENTLY contact_filled_custom ON contact USING gin (custom jsonb_path_ops) WITH (fastupdate = off)
  WHERE custom <> '{}';
CREATE INDEX CONCURRENTLY company_filled_custom ON company USING gin (custom jsonb_path_ops) WITH (fastupdate = off)
  WHERE custom <> '{}';
CREATE INDEX CONCURRENTLY activity_filled_custom ON activity USING gin (custom jsonb_path_ops) WITH (fastupdate = off)
  WHERE custom <> '{}';
