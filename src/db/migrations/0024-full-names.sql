-- Contacts are named by their full name, too (D75).
CREATE INDEX contact_full_name ON contact
  (account_id, compared_name(coalesce(first_name || ' ', '') || coalesce(last_name, '')) COLLATE "C", id) WHERE deleted_at IS NULL;
ANALYZE contact;
