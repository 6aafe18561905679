-- Statements are separated by one empty line.

CREATE SCHEMA chat;

CREATE SCHEMA mesh;

CREATE SCHEMA signals;

CREATE SCHEMA traces;

CREATE SEQUENCE chat.feedback_revision;

CREATE TABLE chat.conversations (
    id UUID NOT NULL,
    owner_id TEXT NOT NULL,
    title TEXT NOT NULL,
    selected_model TEXT,
    created_at timestamptz DEFAULT now() NOT NULL,
    updated_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_conversations PRIMARY KEY (id)
);

CREATE INDEX ix_conversations_owner_id_updated_at_id ON chat.conversations (owner_id, updated_at DESC, id DESC);

CREATE TABLE chat.sessions (
    token_hash BYTEA NOT NULL,
    identity JSONB NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    expires_at timestamptz NOT NULL,
    CONSTRAINT pk_sessions PRIMARY KEY (token_hash)
);

CREATE INDEX ix_sessions_expires_at ON chat.sessions (expires_at);

CREATE TABLE mesh.dead_letters (
    id UUID DEFAULT gen_random_uuid() NOT NULL,
    consumer TEXT NOT NULL,
    event_id TEXT NOT NULL,
    subject TEXT NOT NULL,
    reason_class TEXT NOT NULL,
    payload BYTEA NOT NULL,
    headers JSONB NOT NULL,
    deliveries INTEGER NOT NULL,
    first_seen_at timestamptz DEFAULT now() NOT NULL,
    last_seen_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_dead_letters PRIMARY KEY (id),
    CONSTRAINT uq_dead_letters_consumer_event_id UNIQUE (consumer, event_id)
);

CREATE TABLE mesh.outbox (
    event_id UUID NOT NULL,
    subject TEXT NOT NULL,
    stream TEXT NOT NULL,
    payload BYTEA NOT NULL,
    headers JSONB NOT NULL,
    epoch INTEGER DEFAULT 0 NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    next_attempt_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_outbox PRIMARY KEY (event_id)
);

CREATE INDEX ix_outbox_created_at ON mesh.outbox (created_at);

CREATE INDEX ix_outbox_next_attempt_at ON mesh.outbox (next_attempt_at);

CREATE TABLE signals.access_counters (
    record_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    total BIGINT NOT NULL,
    last_at timestamptz NOT NULL,
    CONSTRAINT pk_access_counters PRIMARY KEY (record_id, kind)
);

CREATE TABLE signals.accesses (
    event_id UUID NOT NULL,
    message_id UUID NOT NULL,
    conversation_id UUID NOT NULL,
    record_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    click_id TEXT,
    source_system TEXT NOT NULL,
    occurred_at timestamptz NOT NULL,
    applied_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_accesses PRIMARY KEY (event_id),
    CONSTRAINT ck_accesses_kind CHECK (kind IN ('cited', 'clicked'))
);

CREATE INDEX ix_accesses_message_id ON signals.accesses (message_id);

CREATE TABLE signals.knowledge_state (
    store_id TEXT NOT NULL,
    knowledge_version BIGINT NOT NULL,
    is_empty BOOLEAN NOT NULL,
    occurred_at timestamptz NOT NULL,
    CONSTRAINT pk_knowledge_state PRIMARY KEY (store_id)
);

CREATE TABLE signals.usage (
    event_id UUID NOT NULL,
    message_id UUID NOT NULL,
    provider_call INTEGER NOT NULL,
    user_id TEXT NOT NULL,
    department TEXT,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    input_tokens INTEGER NOT NULL,
    cached_input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    estimated BOOLEAN NOT NULL,
    cost NUMERIC(20, 10),
    currency TEXT,
    occurred_at timestamptz NOT NULL,
    applied_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_usage PRIMARY KEY (event_id),
    CONSTRAINT ck_usage_cost_has_currency CHECK ((cost IS NULL) = (currency IS NULL))
);

CREATE INDEX ix_usage_message_id ON signals.usage (message_id);

CREATE INDEX ix_usage_occurred_at ON signals.usage (occurred_at);

CREATE TABLE traces.prompt_versions (
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    static_text TEXT NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_prompt_versions PRIMARY KEY (id)
);

CREATE INDEX ix_prompt_versions_name ON traces.prompt_versions (name);

CREATE TABLE chat.messages (
    id UUID NOT NULL,
    conversation_id UUID NOT NULL,
    position BIGINT GENERATED ALWAYS AS IDENTITY,
    role TEXT NOT NULL,
    content TEXT NOT NULL,
    outcome TEXT,
    model TEXT,
    tokens_used INTEGER,
    citations JSONB DEFAULT '[]'::jsonb NOT NULL,
    hint JSONB,
    feedback SMALLINT,
    feedback_revision BIGINT,
    created_at timestamptz DEFAULT now() NOT NULL,
    updated_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_messages PRIMARY KEY (id),
    CONSTRAINT ck_messages_role CHECK (role IN ('user', 'assistant')),
    CONSTRAINT ck_messages_feedback_value CHECK (feedback IN (-1, 1)),
    CONSTRAINT ck_messages_feedback_on_assistant CHECK (role = 'assistant' OR (feedback IS NULL AND feedback_revision IS NULL)),
    CONSTRAINT ck_messages_tokens_on_assistant CHECK (role = 'assistant' OR tokens_used IS NULL),
    CONSTRAINT ck_messages_outcome CHECK (outcome IN ('conversational', 'grounded', 'partial', 'withheld', 'not_found', 'clarify', 'refused', 'failed', 'interrupted')),
    CONSTRAINT ck_messages_outcome_on_assistant CHECK ((role = 'assistant') = (outcome IS NOT NULL)),
    CONSTRAINT fk_messages_conversation_id_conversations FOREIGN KEY(conversation_id) REFERENCES chat.conversations (id) ON DELETE CASCADE
);

CREATE INDEX ix_messages_conversation_id_position ON chat.messages (conversation_id, position);

CREATE TABLE chat.turns (
    message_id UUID NOT NULL,
    task_id UUID NOT NULL,
    conversation_id UUID NOT NULL,
    owner_id TEXT NOT NULL,
    client_message_id TEXT NOT NULL,
    user_message_id UUID NOT NULL,
    state TEXT NOT NULL,
    outcome TEXT,
    lease_until timestamptz NOT NULL,
    started_at timestamptz NOT NULL,
    finished_at timestamptz,
    stop_requested_at timestamptz,
    CONSTRAINT pk_turns PRIMARY KEY (message_id),
    CONSTRAINT ck_turns_state CHECK (state IN ('running', 'finished')),
    CONSTRAINT ck_turns_outcome CHECK (outcome IN ('conversational', 'grounded', 'partial', 'withheld', 'not_found', 'clarify', 'refused', 'failed', 'interrupted')),
    CONSTRAINT ck_turns_outcome_when_finished CHECK ((state = 'finished') = (outcome IS NOT NULL)),
    CONSTRAINT uq_turns_owner_id_client_message_id UNIQUE (owner_id, client_message_id),
    CONSTRAINT fk_turns_conversation_id_conversations FOREIGN KEY(conversation_id) REFERENCES chat.conversations (id) ON DELETE CASCADE
);

CREATE INDEX ix_turns_running_lease_until ON chat.turns (lease_until) WHERE state = 'running';

CREATE UNIQUE INDEX uq_turns_running_conversation ON chat.turns (conversation_id) WHERE state = 'running';

CREATE TABLE traces.retrievals (
    event_id UUID NOT NULL,
    message_id UUID NOT NULL,
    conversation_id UUID NOT NULL,
    query TEXT NOT NULL,
    outcome TEXT NOT NULL,
    store_id TEXT,
    knowledge_version BIGINT,
    cache_hit BOOLEAN NOT NULL,
    fault TEXT,
    candidates JSONB NOT NULL,
    packed JSONB NOT NULL,
    cited JSONB NOT NULL,
    rejected JSONB NOT NULL,
    notes JSONB NOT NULL,
    timings_ms JSONB NOT NULL,
    occurred_at timestamptz NOT NULL,
    applied_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_retrievals PRIMARY KEY (event_id),
    CONSTRAINT uq_retrievals_message_id UNIQUE (message_id),
    CONSTRAINT fk_retrievals_conversation_id_conversations FOREIGN KEY(conversation_id) REFERENCES chat.conversations (id) ON DELETE CASCADE
);

CREATE INDEX ix_retrievals_conversation_id ON traces.retrievals (conversation_id);

CREATE TABLE traces.runs (
    event_id UUID NOT NULL,
    message_id UUID NOT NULL,
    conversation_id UUID NOT NULL,
    provider_call INTEGER NOT NULL,
    prompt_version_id TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    outcome TEXT NOT NULL,
    input_tokens INTEGER NOT NULL,
    cached_input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    estimated BOOLEAN NOT NULL,
    latency_ms INTEGER NOT NULL,
    first_token_ms INTEGER,
    input_hash TEXT NOT NULL,
    output_hash TEXT NOT NULL,
    cost NUMERIC(20, 10),
    currency TEXT,
    occurred_at timestamptz NOT NULL,
    applied_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_runs PRIMARY KEY (event_id),
    CONSTRAINT uq_runs_message_id_provider_call UNIQUE (message_id, provider_call),
    CONSTRAINT fk_runs_conversation_id_conversations FOREIGN KEY(conversation_id) REFERENCES chat.conversations (id) ON DELETE CASCADE,
    CONSTRAINT fk_runs_prompt_version_id_prompt_versions FOREIGN KEY(prompt_version_id) REFERENCES traces.prompt_versions (id)
);

CREATE INDEX ix_runs_conversation_id ON traces.runs (conversation_id);

CREATE FUNCTION chat.guard_message() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (to_jsonb(NEW) - '{feedback,feedback_revision,updated_at}'::text[])
        IS DISTINCT FROM (to_jsonb(OLD) - '{feedback,feedback_revision,updated_at}'::text[]) THEN
        RAISE EXCEPTION 'a message is written once: only its feedback may change' USING ERRCODE = 'check_violation';
    END IF;
    NEW.updated_at := clock_timestamp();
    RETURN NEW;
END $$;

CREATE TRIGGER guard_message BEFORE UPDATE ON chat.messages
    FOR EACH ROW EXECUTE FUNCTION chat.guard_message();

CREATE FUNCTION mesh.announce_outbox() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('achilles_outbox', '');
    RETURN NULL;
END $$;

CREATE TRIGGER announce_outbox AFTER INSERT ON mesh.outbox
    FOR EACH STATEMENT EXECUTE FUNCTION mesh.announce_outbox();
