-- Tables of arguments and of propositions as rows with the same columns, one row per argument: those
-- of the tables but for `file`, `number` (of the row), `probability` (the joint one), and offsets,
-- which count in `text`. What is null in the tables is an empty string. `hits.py` makes the view
-- `rows` of them.

CREATE MACRO word_start(text, word) AS -- in texts of words with spaces between them
    CASE WHEN word = 0 THEN 0
    ELSE length(array_to_string(list_slice(string_split(text, ' '), 1, word), ' ')) + 1 END;

CREATE MACRO lemma_of(sense, predicate) AS -- of what has no sense, the predicate itself
    regexp_replace(lower(coalesce(nullif(sense, ''), predicate)), '\.[^.]*$', '');

CREATE MACRO predicate_rows(source) AS TABLE
    SELECT * REPLACE (coalesce(document::VARCHAR, '') AS document, coalesce(sense, '') AS sense,
        coalesce(predicate_start::BIGINT - coalesce(sentence_start::BIGINT, 0),
            word_start(text, predicate_word::INT)) AS predicate_start)
    FROM query_table(source) WHERE predicate IS NOT NULL;

CREATE MACRO argument_rows(source) AS TABLE
    SELECT capsrl_file AS file, capsrl_number AS number, document, sentence::INT AS sentence, sentence_id,
        text, predicate, predicate_word::INT AS predicate_word, predicate_start,
        sense, joint_probability::DOUBLE AS probability, '' AS lemma,
        coalesce(role = 'AM-NEG', false) OR CASE WHEN regexp_matches(phrase, '(?i)\bn[eo]')
            THEN denies(role, phrase) ELSE false END AS negated,
        coalesce(role, '') AS role, coalesce(head, '') AS head, coalesce(phrase, head, '') AS phrase,
        coalesce(phrase_start::BIGINT - coalesce(sentence_start::BIGINT, 0),
            word_start(text, coalesce(phrase_first, head_word)::INT)) AS phrase_start
    FROM predicate_rows(source);

-- These have no heads of modifiers, and no offsets of arguments.
CREATE MACRO proposition_rows(source) AS TABLE
    SELECT *, instr(text, phrase) - 1 AS phrase_start FROM (
        SELECT capsrl_file AS file, capsrl_number AS number, document, sentence::INT AS sentence,
            sentence_id, text, predicate, predicate_word::INT AS predicate_word,
            predicate_start, sense, joint_probability::DOUBLE AS probability,
            lemma, negated::BOOL AS negated,
            unnest(list_filter([
                {role: '', head: '', phrase: ''},
                {role: 'A0', head: A0_head, phrase: A0},
                {role: 'A1', head: A1_head, phrase: A1},
                {role: 'A2', head: A2_head, phrase: A2},
                {role: 'A3', head: A3_head, phrase: A3},
                {role: 'A4', head: A4_head, phrase: A4},
                {role: 'AM-TMP', head: NULL, phrase: time},
                {role: 'AM-LOC', head: NULL, phrase: place},
                {role: 'AM-CAU', head: NULL, phrase: cause},
                {role: 'AM-MNR', head: NULL, phrase: manner},
                {role: 'AM-MOD', head: modal, phrase: modal}
            ], lambda each: each.phrase IS NOT NULL), max_depth := 2)
        FROM predicate_rows(source));
