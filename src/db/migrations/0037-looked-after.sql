-- When a process last began the background jobs of an account: one of several does them each hour (D109).
ALTER TABLE account ADD COLUMN looked_after_at timestamptz NOT NULL DEFAULT '-infinity';
