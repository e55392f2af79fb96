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

-- What is counted; `head` and `phrase` of the roles of the query, if it names any.
CREATE TEMP VIEW arguments AS
    SELECT role, lower(head) AS head, phrase FROM found JOIN rows
    USING (file, document, sentence, predicate_word, predicate, sense) WHERE role <> '';
CREATE TEMP VIEW count_role AS SELECT role FROM arguments;
CREATE TEMP VIEW count_head AS SELECT role, head FROM arguments;
CREATE TEMP VIEW count_phrase AS SELECT role, phrase FROM arguments;
CREATE TEMP VIEW count_lemma AS SELECT lemma_of(sense, predicate) AS lemma FROM found;
CREATE TEMP VIEW count_predicate AS SELECT lower(predicate) AS predicate FROM found;
CREATE TEMP VIEW count_sense AS SELECT sense FROM found;
CREATE TEMP VIEW count_document AS SELECT document FROM found;

-- The roles of each hit but for modifiers, references and continuations.
CREATE TEMP VIEW count_valency AS
    SELECT sense, coalesce(string_agg(DISTINCT role, ' ' ORDER BY role)
        FILTER (NOT regexp_matches(role, '^(|(AM|R|C)-.*)$')), '') AS roles
    FROM found JOIN rows USING (file, document, sentence, predicate_word, predicate, sense)
    GROUP BY file, document, sentence, predicate_word, predicate, sense;
