"""The statements of the search. Rights stand inside both legs: what is filtered out never takes part in a ranking."""

from sqlalchemy import ARRAY, Boolean, Double, Integer, Text, bindparam, text

# Words of the question, stemmed once for every language that the store holds, with their frequencies there.
QUESTION_LEXEMES = text("""
    SELECT s.language, l.lexeme, coalesce(f.chunks, 0) AS chunks_with_lexeme, s.chunks,
           s.words::float8 / s.chunks AS average_length
    FROM knowledge.language_statistics s
    JOIN unnest(:languages, :configurations) AS k(language, configuration) ON k.language = s.language
    CROSS JOIN LATERAL unnest(tsvector_to_array(to_tsvector(k.configuration::regconfig, :index_text))) AS l(lexeme)
    LEFT JOIN knowledge.lexeme_frequency f ON f.language = s.language AND f.lexeme = l.lexeme
    WHERE s.chunks > 0
    ORDER BY s.language, l.lexeme
""").bindparams(
    bindparam("languages", type_=ARRAY(Text)),
    bindparam("configurations", type_=ARRAY(Text)),
    bindparam("index_text", type_=Text),
)

# BM25 (k1 = 1.2, b = 0.75) on the positions of PostgreSQL's tsvector; the nearest neighbours are searched exactly,
# because an approximate index with a rights filter behind it loses hits for people who may read little.
CANDIDATES = text("""
    WITH visible AS MATERIALIZED (
        SELECT document_id, record_id FROM knowledge.document
        WHERE CASE WHEN :readable THEN is_public OR readers && :principals
                   ELSE hint AND NOT (is_public OR readers && :principals) END
    ),
    terms AS MATERIALIZED (
        SELECT * FROM unnest(:languages, :lexemes, :weights, :average_lengths)
            AS t(language, lexeme, weight, average_length)
    ),
    lexical AS (
        SELECT chunk_id, row_number() OVER (ORDER BY score DESC, record_id, chunk_id) AS rank
        FROM (
            SELECT c.chunk_id, v.record_id, sum(t.weight * 2.2 * cardinality(l.positions) / (
                cardinality(l.positions) + 1.2 * (0.25 + 0.75 * c.length / greatest(t.average_length, 1)))) AS score
            FROM knowledge.chunk c
            JOIN visible v USING (document_id)
            CROSS JOIN LATERAL unnest(c.search_vector) AS l(lexeme, positions, weights)
            JOIN terms t ON t.language = c.language AND t.lexeme = l.lexeme
            WHERE c.search_vector @@ CAST(:any_lexeme AS tsquery)
            GROUP BY c.chunk_id, v.record_id
            ORDER BY score DESC, v.record_id, c.chunk_id
            LIMIT :depth
        ) scored
    ),
    semantic AS (
        SELECT chunk_id, row_number() OVER (ORDER BY distance, record_id, chunk_id) AS rank
        FROM (
            SELECT c.chunk_id, v.record_id, c.embedding <=> CAST(:embedding AS vector) AS distance
            FROM knowledge.chunk c
            JOIN visible v USING (document_id)
            ORDER BY distance, v.record_id, c.chunk_id
            LIMIT :depth
        ) nearest
    )
    SELECT v.record_id, c.chunk_id, c.language, lexical.rank AS lexical_rank, semantic.rank AS semantic_rank,
           1 - (c.embedding <=> CAST(:embedding AS vector)) AS cosine,
           ARRAY(
               SELECT t.lexeme FROM terms t
               WHERE t.language = c.language AND t.lexeme = ANY(tsvector_to_array(c.search_vector))
           ) AS matched
    FROM lexical FULL JOIN semantic USING (chunk_id)
    JOIN knowledge.chunk c USING (chunk_id)
    JOIN visible v USING (document_id)
""").bindparams(
    bindparam("readable", type_=Boolean),
    bindparam("principals", type_=ARRAY(Text)),
    bindparam("languages", type_=ARRAY(Text)),
    bindparam("lexemes", type_=ARRAY(Text)),
    bindparam("weights", type_=ARRAY(Double)),
    bindparam("average_lengths", type_=ARRAY(Double)),
    bindparam("any_lexeme", type_=Text),
    bindparam("embedding", type_=Text),
    bindparam("depth", type_=Integer),
)
