-- What is asked of the table `found`, which has a row for each hit, and of `wanted`, some of them.

CREATE TEMP VIEW wanted AS FROM found JOIN files USING (file);

-- The hits in the order of the files, with a list of their arguments.
CREATE TEMP VIEW hits AS
    SELECT name AS file, document, sentence, sentence_id, text, predicate, predicate_word,
        predicate_start, sense, probability,
        list({role: role, phrase: phrase, phrase_start: phrase_start}
            ORDER BY phrase_start, role) FILTER (role <> '') AS arguments
    FROM wanted JOIN rows USING (file, document, sentence, predicate_word, predicate, sense)
    GROUP BY ALL ORDER BY min(place), min(wanted.number), predicate_word;

CREATE TEMP VIEW arguments AS
    SELECT role, head, phrase FROM found JOIN rows
    USING (file, document, sentence, predicate_word, predicate, sense) WHERE role <> '';

-- The roles of each hit but for modifiers, references and continuations.
CREATE TEMP VIEW role_sets AS
    SELECT sense, coalesce(string_agg(DISTINCT role, ' ' ORDER BY role)
        FILTER (NOT regexp_matches(role, '^(|(AM|R|C)-.*)$')), '') AS roles
    FROM found JOIN rows USING (file, document, sentence, predicate_word, predicate, sense)
    GROUP BY file, document, sentence, predicate_word, predicate, sense;
