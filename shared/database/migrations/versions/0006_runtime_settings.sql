CREATE TABLE chat.setting_revisions (
    id UUID DEFAULT gen_random_uuid() NOT NULL,
    position BIGINT GENERATED ALWAYS AS IDENTITY,
    name TEXT NOT NULL,
    revision INTEGER NOT NULL,
    value JSONB NOT NULL,
    changed_by TEXT NOT NULL,
    changed_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_setting_revisions PRIMARY KEY (id),
    CONSTRAINT ck_setting_revisions_revision CHECK (revision >= 1),
    CONSTRAINT uq_setting_revisions_name_revision UNIQUE (name, revision),
    CONSTRAINT uq_setting_revisions_position UNIQUE (position)
);

CREATE TABLE chat.platform_prompts (
    id UUID NOT NULL,
    text TEXT NOT NULL,
    note TEXT DEFAULT '' NOT NULL,
    created_by TEXT NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_platform_prompts PRIMARY KEY (id),
    CONSTRAINT ck_platform_prompts_text CHECK (btrim(text) <> '')
);

ALTER TABLE chat.messages ADD COLUMN notices JSONB DEFAULT '[]'::jsonb NOT NULL;

CREATE FUNCTION chat.announce_settings() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('achilles_settings', '');
    RETURN NULL;
END $$;

CREATE TRIGGER announce_settings AFTER INSERT ON chat.setting_revisions
    FOR EACH STATEMENT EXECUTE FUNCTION chat.announce_settings();
