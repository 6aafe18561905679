ALTER TABLE signals.usage ADD COLUMN cache_write_tokens INTEGER DEFAULT 0 NOT NULL;

ALTER TABLE signals.usage ADD COLUMN reasoning_tokens INTEGER DEFAULT 0 NOT NULL;

ALTER TABLE signals.usage ADD CONSTRAINT ck_usage_cost_is_money
    CHECK (currency ~ '^[A-Z]{3}$' AND cost >= 0);

ALTER TABLE signals.usage ADD CONSTRAINT ck_usage_tokens_are_counts CHECK (
    least(input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens) >= 0
);

ALTER TABLE signals.usage ADD CONSTRAINT ck_usage_occurred_in_our_time
    CHECK (occurred_at >= '2000-01-01+00' AND occurred_at < '2200-01-01+00');

CREATE TABLE signals.business_time_zone (
    is_only_row BOOLEAN DEFAULT true NOT NULL,
    name TEXT NOT NULL,
    changed_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_business_time_zone PRIMARY KEY (is_only_row),
    CONSTRAINT ck_business_time_zone_is_only_row CHECK (is_only_row)
);

INSERT INTO signals.business_time_zone (name) VALUES ('UTC');

CREATE TABLE signals.usage_daily (
    day DATE NOT NULL,
    user_id TEXT NOT NULL,
    department TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    currency TEXT NOT NULL,
    input_tokens BIGINT NOT NULL,
    cached_input_tokens BIGINT NOT NULL,
    cache_write_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    reasoning_tokens BIGINT NOT NULL,
    cost NUMERIC NOT NULL,
    calls BIGINT NOT NULL,
    estimated_calls BIGINT NOT NULL,
    answers BIGINT NOT NULL,
    CONSTRAINT pk_usage_daily PRIMARY KEY (day, user_id, department, provider, model, currency)
);

CREATE INDEX ix_usage_daily_user_id_day ON signals.usage_daily (user_id, day);

INSERT INTO signals.usage_daily
SELECT (occurred_at AT TIME ZONE 'UTC')::date, user_id, coalesce(department, ''), provider, model,
    coalesce(currency, ''), sum(input_tokens), sum(cached_input_tokens), 0, sum(output_tokens), 0,
    sum(coalesce(cost, 0)), count(*), count(*) FILTER (WHERE estimated), count(*) FILTER (WHERE provider_call = 1)
FROM signals.usage
GROUP BY 1, 2, 3, 4, 5, 6;

CREATE SCHEMA finance;

COMMENT ON SCHEMA finance IS 'Usage and cost for BI tools. Columns are only ever added. Never sum a cost over currencies.';

CREATE VIEW finance.usage_daily AS
SELECT day, user_id, nullif(department, '') AS department, provider, model, nullif(currency, '') AS currency,
    input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens,
    CASE WHEN currency <> '' THEN cost END AS cost,
    calls, CASE WHEN currency = '' THEN calls ELSE 0 END AS unpriced_calls, estimated_calls, answers
FROM signals.usage_daily;

COMMENT ON VIEW finance.usage_daily IS 'Sums by business day, person, department, provider, model and currency.';

COMMENT ON COLUMN finance.usage_daily.day IS 'Day in the business time zone.';

COMMENT ON COLUMN finance.usage_daily.department IS 'NULL: none was known when the call was made.';

COMMENT ON COLUMN finance.usage_daily.currency IS 'ISO 4217. NULL: the price of these calls is not known.';

COMMENT ON COLUMN finance.usage_daily.input_tokens IS 'All input tokens, with those read from and written to a cache.';

COMMENT ON COLUMN finance.usage_daily.cached_input_tokens IS 'Those of input_tokens that were read from a cache.';

COMMENT ON COLUMN finance.usage_daily.cache_write_tokens IS 'Those of input_tokens that were written to a cache.';

COMMENT ON COLUMN finance.usage_daily.output_tokens IS 'All output tokens, with reasoning.';

COMMENT ON COLUMN finance.usage_daily.reasoning_tokens IS 'Those of output_tokens that were spent on reasoning.';

COMMENT ON COLUMN finance.usage_daily.cost IS 'In currency, exact. NULL: not known, which is not nothing.';

COMMENT ON COLUMN finance.usage_daily.calls IS 'Model calls.';

COMMENT ON COLUMN finance.usage_daily.unpriced_calls IS 'Calls whose price is not known.';

COMMENT ON COLUMN finance.usage_daily.estimated_calls IS 'Calls whose tokens the provider did not tell: counted here.';

COMMENT ON COLUMN finance.usage_daily.answers IS 'Answers, each counted with the first call that was made for it.';

CREATE VIEW finance.usage_monthly AS
SELECT date_trunc('month', day::timestamp)::date AS month, user_id, department, provider, model, currency,
    sum(input_tokens) AS input_tokens, sum(cached_input_tokens) AS cached_input_tokens,
    sum(cache_write_tokens) AS cache_write_tokens, sum(output_tokens) AS output_tokens,
    sum(reasoning_tokens) AS reasoning_tokens, sum(cost) AS cost, sum(calls) AS calls,
    sum(unpriced_calls) AS unpriced_calls, sum(estimated_calls) AS estimated_calls, sum(answers) AS answers
FROM finance.usage_daily
GROUP BY 1, 2, 3, 4, 5, 6;

COMMENT ON VIEW finance.usage_monthly IS 'usage_daily by calendar month; the running month is the month to date.';

CREATE VIEW finance.usage_calls AS
SELECT event_id AS call_id, message_id AS answer_id, provider_call, occurred_at,
    (occurred_at AT TIME ZONE (SELECT name FROM signals.business_time_zone))::date AS day,
    user_id, nullif(department, '') AS department, provider, model,
    input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, estimated, cost, currency
FROM signals.usage;

COMMENT ON VIEW finance.usage_calls IS 'Every model call. Filter by occurred_at, which is indexed; day is computed.';

CREATE VIEW finance.focus_1_3 AS
SELECT
    NULL::text AS "AllocatedMethodDetails", NULL::text AS "AllocatedMethodId", NULL::text AS "AllocatedResourceId",
    NULL::text AS "AllocatedResourceName", NULL::text AS "AllocatedTags", NULL::text AS "AvailabilityZone",
    cost AS "BilledCost", 'achilles'::text AS "BillingAccountId", NULL::text AS "BillingAccountName",
    NULL::text AS "BillingAccountType", currency AS "BillingCurrency",
    (date_trunc('month', day::timestamp) + interval '1 month') AT TIME ZONE zone.name AS "BillingPeriodEnd",
    date_trunc('month', day::timestamp) AT TIME ZONE zone.name AS "BillingPeriodStart",
    NULL::text AS "CapacityReservationId", NULL::text AS "CapacityReservationStatus",
    'Usage'::text AS "ChargeCategory", NULL::text AS "ChargeClass",
    'Calls of the language model ' || model AS "ChargeDescription", 'Usage-Based'::text AS "ChargeFrequency",
    (day + 1)::timestamp AT TIME ZONE zone.name AS "ChargePeriodEnd",
    day::timestamp AT TIME ZONE zone.name AS "ChargePeriodStart",
    NULL::text AS "CommitmentDiscountCategory", NULL::text AS "CommitmentDiscountId",
    NULL::text AS "CommitmentDiscountName", NULL::numeric AS "CommitmentDiscountQuantity",
    NULL::text AS "CommitmentDiscountStatus", NULL::text AS "CommitmentDiscountType",
    NULL::text AS "CommitmentDiscountUnit",
    (input_tokens + output_tokens)::numeric AS "ConsumedQuantity", 'Tokens'::text AS "ConsumedUnit",
    NULL::text AS "ContractApplied", cost AS "ContractedCost", NULL::numeric AS "ContractedUnitPrice",
    cost AS "EffectiveCost", provider AS "HostProviderName", NULL::text AS "InvoiceId",
    provider AS "InvoiceIssuerName", cost AS "ListCost", NULL::numeric AS "ListUnitPrice",
    'Standard'::text AS "PricingCategory", NULL::text AS "PricingCurrency",
    NULL::numeric AS "PricingCurrencyContractedUnitPrice", NULL::numeric AS "PricingCurrencyEffectiveCost",
    NULL::numeric AS "PricingCurrencyListUnitPrice",
    (input_tokens + output_tokens)::numeric AS "PricingQuantity", 'Tokens'::text AS "PricingUnit",
    provider AS "ProviderName", provider AS "PublisherName", NULL::text AS "RegionId", NULL::text AS "RegionName",
    NULL::text AS "ResourceId", NULL::text AS "ResourceName", NULL::text AS "ResourceType",
    'AI and Machine Learning'::text AS "ServiceCategory", 'Language model inference'::text AS "ServiceName",
    provider AS "ServiceProviderName", 'Generative AI'::text AS "ServiceSubcategory", model AS "SkuId",
    'Tokens'::text AS "SkuMeter", NULL::text AS "SkuPriceDetails", NULL::text AS "SkuPriceId",
    department AS "SubAccountId", department AS "SubAccountName", NULL::text AS "SubAccountType", NULL::text AS "Tags",
    answers AS "x_Answers", cache_write_tokens AS "x_CacheWriteTokens", cached_input_tokens AS "x_CachedInputTokens",
    calls AS "x_Calls", day AS "x_Day", department AS "x_Department", estimated_calls AS "x_EstimatedCalls",
    input_tokens AS "x_InputTokens", model AS "x_Model", output_tokens AS "x_OutputTokens",
    reasoning_tokens AS "x_ReasoningTokens", unpriced_calls AS "x_UnpricedCalls", user_id AS "x_UserId"
FROM finance.usage_daily CROSS JOIN signals.business_time_zone AS zone;

COMMENT ON VIEW finance.focus_1_3 IS 'usage_daily in the columns of FOCUS 1.3, which docs/finance.md explains.';

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'finance_reader') THEN
        CREATE ROLE finance_reader NOLOGIN;
    END IF;
EXCEPTION
    WHEN insufficient_privilege THEN
        RAISE WARNING 'finance_reader was not created: this user may not create roles. docs/finance.md says what to run.';
    WHEN duplicate_object OR unique_violation THEN
        NULL;
END $$;

DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'finance_reader') THEN
        GRANT USAGE ON SCHEMA finance TO finance_reader;
        GRANT SELECT ON ALL TABLES IN SCHEMA finance TO finance_reader;
    END IF;
END $$;
