-- When a process last began the background jobs of an account: of several processes one does them each hour (D109).
ALTER TABLE account ADD COLUMN looked_after_at timestamptz NOT NULL DEFAULT '-infinity';
